"""Input and output of decoding: sentences and hypotheses."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """A sentence to decode: its number, and its source ids ending with EOS."""

    number: int
    source: Sequence[int]


@dataclass(frozen=True)
class Alternative:
    """One of several outputs for a sentence: ids, log probability, and ranking score."""

    ids: list[int]
    log_probability: float
    score: float


@dataclass(frozen=True)
class Hypothesis:
    """A decoded sentence: its ids (with EOS unless a limit cut it), rounds, and log probability if it was computed.

    `log_probabilities` has one value per id where the decoding computes them. `alternatives` are the n best outputs of a
    search, best first; the first equals this hypothesis. `decoding` is the name of the decoding used: "greedy" for
    a sentence that was decoded without drafts.
    """

    number: int
    ids: list[int]
    rounds: int
    score: float | None
    alternatives: tuple[Alternative, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    decoding: str = ""
