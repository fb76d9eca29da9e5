"""Use of drafts from memories and earlier versions: which are decoded from, which are copied, and what became of them."""

from dataclasses import dataclass

from specdec_cli.memories.found import EXACT, DraftFinder, FoundDraft, Origin
from specdec_cli.pipeline.draft_gate import SIMILAR, DraftGate

FIRST = 3
"""Tokens of the first draft from a text whose source is similar by less than SIMILAR (90) percent; else it is the whole
text.
"""


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
    """What became of the drafts of a line: their `origin`, the `similarities` (0 to 100) of the sentences that have one,
    and how many of these were `copied`; of the others, the `tokens` of their outputs and how many of these were
    `accepted` from drafts.
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
