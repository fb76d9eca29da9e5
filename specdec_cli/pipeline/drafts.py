"""Use of drafts from memories and earlier versions: which are decoded from, which are copied or left out, and what became of them."""

from dataclasses import dataclass
from typing import Self

from specdec_cli.memories.found import EXACT, DraftFinder, FoundDraft, Origin

FIRST = 3
"""The number of tokens in the first draft from an earlier translation whose source has a similarity below SIMILAR percent. From SIMILAR on,
the first draft is the whole translation.
"""
SIMILAR = 90.0
"""Similarity in percent from which on a text is expected to resemble the output."""
ALONE, TOGETHER = 0.25, 0.8
"""Least share of the outputs' tokens that must be accepted from drafts: for sentences that are decoded one by one, and for
batches, where a position that is rejected costs as much as one that is accepted.
"""
ENOUGH = 400
"""Tokens of outputs from which on their share decides."""
PROBE = 48
"""Number of sentences with a draft that are decoded before the others of the first lines, to learn the share."""
PAUSE = 16
"""While drafts are left out, every 16th is still used, to notice when they become better."""


class DraftGate:
    """Decides which drafts are used. The output does not depend on it, as every draft is verified.

    Drafts are used while at least the share `least` of the tokens of recent outputs was accepted from them. The
    drafts whose sources are similar by at least SIMILAR (90) percent, and the others, are counted apart.
    """

    @classmethod
    def for_batches(cls, batch_size: int) -> Self:
        """The gate for batches of at most `batch_size` sentences."""
        return cls(ALONE if batch_size == 1 else TOGETHER)

    def __init__(self, least: float) -> None:
        self._least = least
        self._tokens, self._accepted, self._left_out = ({False: 0.0, True: 0.0} for _ in range(3))

    @property
    def knows(self) -> bool:
        """Whether enough outputs of both kinds were counted."""
        return all(tokens >= ENOUGH for tokens in self._tokens.values())

    def admits(self, found: FoundDraft) -> bool:
        """Whether the draft is to be used."""
        similar = found.similarity >= SIMILAR
        if self._tokens[similar] < ENOUGH or self._accepted[similar] >= self._least * self._tokens[similar]:
            return True
        self._left_out[similar] += 1
        return self._left_out[similar] % PAUSE == 0

    def count(self, found: FoundDraft, tokens: int, accepted: int) -> None:
        """Count an output of `tokens` tokens, of which `accepted` were accepted from its draft."""
        similar = found.similarity >= SIMILAR
        if self._tokens[similar] > 8 * ENOUGH:  # older outputs count less
            self._tokens[similar] /= 2
            self._accepted[similar] /= 2
        self._tokens[similar] += tokens
        self._accepted[similar] += accepted


@dataclass(frozen=True)
class Drafts:
    """What finds drafts for sentences, and what decides which are used. With `copy_exact`, the translation of an equal
    source becomes the output without being verified, unless it is a guess.
    """

    finder: DraftFinder
    gate: DraftGate
    copy_exact: bool = False

    def copies(self, found: FoundDraft) -> bool:
        """Whether the draft becomes the output as it is."""
        return self.copy_exact and found.similarity == EXACT and not found.guessed


@dataclass(frozen=True)
class DraftUse:
    """What became of the drafts of a line: their `origin`, the `similarities` (0 to 100) of the sentences that have one, and how many of
    these were `copied`; of the others, the `tokens` of their outputs and how many of these were `accepted` from drafts.
    """

    origin: Origin
    similarities: tuple[float, ...]
    copied: int = 0
    tokens: int = 0
    accepted: int = 0

    @property
    def similarity(self) -> float:
        """The mean similarity of the sentences that have a draft."""
        return sum(self.similarities) / len(self.similarities)


def first_bound(found: FoundDraft) -> int:
    """The largest number of tokens of the first draft from `found`; 0 for no limit."""
    return 0 if found.similarity >= SIMILAR else FIRST
