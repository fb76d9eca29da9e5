"""Drafters: protocols that every drafter implements."""

from collections.abc import Sequence
from typing import Any, Protocol

from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict


class Drafter(Protocol):
    """Protocol of drafters, which propose tokens for the verifier to check.

    Their memory is written in place: its tensors stay the same from round to round.
    """

    @property
    def limit(self) -> int:
        """The largest number of tokens in a draft; it does not change. 0: no limit of its own."""

    @property
    def capturable(self) -> bool:
        """Whether `propose` and `observe` read no value of a tensor, so that they can be captured as CUDA graphs."""

    @property
    def reads_sentences(self) -> bool:
        """Whether `begin` reads the sentences, or another value on the CPU; otherwise it can be captured like a round."""

    def begin(self, state: State, sentences: Sequence[Sentence]) -> Any:
        """Return the drafter's memory of new rows, which the caller keeps beside `state` in a Batch and hands to the other methods;
        the first dimension of tensors is the row. `sentences` are those of the rows.
        """

    def propose(self, state: State, memory: Any, size: int) -> Draft:
        """Return a draft of at most `size` tokens for each row of `state` (0: no bound but the drafter's own); it may be empty.

        The ids have as many columns as a draft can have tokens.
        """

    def observe(self, state: State, memory: Any, verdict: Verdict) -> None:
        """Update `memory` from the verdict on the last draft; called before the accepted tokens are appended to `state`."""


def bounded(limit: int, size: int) -> int:
    """The smaller one of two bounds of a draft, of which 0 is none."""
    return min(limit, size) if limit and size else limit or size
