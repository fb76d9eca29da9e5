"""The protocol of executions: one implementation each for operators, CUDA graphs and compiled kernels."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from specdec_cli.decoding.accept import Rule
from specdec_cli.decoding.drafters import SizedDrafter
from specdec_cli.decoding.state import Draft, Scores, State, StepRunner, Verdict

T = TypeVar("T")
Score = Callable[[State, Draft], Scores]
"""The pass of a verifier over the last accepted token and a draft."""
NO_SENTENCE = -1
"""The number of an empty row: a finished row without a sentence."""


class Rows(Protocol):
    """Places the rows of one decoding in batches; `empty` is the number of empty rows in the batch."""

    empty: int

    def begin(self, state: State) -> State:
        """A batch of new rows only."""

    def exchange(self, state: State, entering: State | None) -> State:
        """Replace finished rows by `entering` rows, which are at most as many, and return the batch."""


class SourceQueue(Protocol):
    """Sentences to be decoded, which become rows of a batch."""

    def take(self, rows: int) -> State | None:
        """The next `rows` rows, fewer at the end of the queue; None if it is empty."""


class Execution(Protocol):
    """How the rounds of decodings are computed."""

    @property
    def run(self) -> StepRunner:
        """Runs the steps of verifier and drafter."""

    def verify(self, score: Score, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """One pass over the last accepted token and the draft (B, k), by `score` or its equal, and the tokens that `rule` accepts."""

    def advance(self, state: State, verdict: Verdict) -> int:
        """Append the accepted tokens to `state` in place; the number of finished rows, empty ones included."""

    def rows(self, batch_size: int, rule: Rule | None) -> AbstractContextManager[Rows]:
        """The rows of a decoding with batches of at most `batch_size`; `rule` is None for decodings without verification."""

    def queue(self, sentences: Iterable[T], encode: Callable[[Sequence[T]], State], ahead: int) -> SourceQueue:
        """A queue of `sentences`. If the execution prefetches, it encodes `ahead` sentences before they are taken."""

    def padded(self, drafter: SizedDrafter) -> SizedDrafter:
        """`drafter`; its drafts are padded to a few sizes if each new size has a cost."""
