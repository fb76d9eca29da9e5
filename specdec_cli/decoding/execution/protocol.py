"""The protocol Execution, with one implementation each for operators and CUDA graphs."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from specdec_cli.decoding.drafters import SizedDrafter
from specdec_cli.decoding.options import Rule
from specdec_cli.decoding.state import Draft, Scores, State, StepRunner, Verdict

T = TypeVar("T")
Score = Callable[[State, Draft], Scores]
"""The function that computes a verifier's pass over the last accepted token and a draft."""
NO_SENTENCE = -1
"""The value of `State.numbers` for an empty row, which is a finished row without a sentence."""


class Rows(Protocol):
    """Arranges the rows of one decoding in batches; `empty` is the number of rows without a sentence in the present
    batch.
    """

    empty: int

    def begin(self, state: State) -> State:
        """Return a batch of the rows of `state`, all of them new."""

    def exchange(self, state: State, entering: State | None) -> State:
        """Replace finished rows of `state` by the rows of `entering`, and return the batch. `entering` has at most
        as many rows as are finished, and is None if no sentence is left; what becomes of the other finished rows
        depends on the implementation.
        """


class SourceQueue(Protocol):
    """Sentences that wait to be decoded, and are encoded before or when they are taken."""

    def take(self, rows: int) -> State | None:
        """Return a state with the next `rows` sentences, fewer at the end of the queue; None if it is empty."""


class Execution(Protocol):
    """An implementation of the steps of a decoding's rounds."""

    @property
    def run(self) -> StepRunner:
        """The function that runs the steps of verifier and drafter."""

    def verify(self, score: Score, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """Compute one pass over the last accepted token and the draft (B, k), and return the tokens that `rule`
        accepts; `state` does not advance.

        `score` computes the pass, or an implementation computes the same values itself. `with_scores`: the verdict
        has log probabilities.
        """

    def advance(self, state: State, verdict: Verdict) -> int:
        """Append the accepted tokens to `state` in place; return how many rows of the batch are finished, rows
        without a sentence included.
        """

    def rows(self, batch_size: int, rule: Rule | None) -> AbstractContextManager[Rows]:
        """Return a context manager that gives the Rows of a decoding with batches of at most `batch_size` rows.

        `rule` is the acceptance rule, or None for decodings without verification. The end of the context releases
        the rows' memory.
        """

    def queue(self, sentences: Iterable[T], encode: Callable[[Sequence[T]], State], ahead: int) -> SourceQueue:
        """Return a queue of `sentences`, which `encode` turns into rows. If the execution prefetches, it encodes up
        to `ahead` of them before they are taken.
        """

    def padded(self, drafter: SizedDrafter) -> SizedDrafter:
        """Return `drafter`; if each new size of a draft has a cost, with the ids (B, k) of its drafts padded to a
        few sizes k. The padding is never accepted, because the draft's counts do not include it.
        """
