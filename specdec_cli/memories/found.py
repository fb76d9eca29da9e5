"""The record of a draft that was found for a sentence, and the protocol of what finds it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Origin = Literal["tm", "previous"]
"""Where a draft comes from: a translation memory, or an earlier version of the text."""
EXACT = 100.0
"""The similarity of equal sources."""


@dataclass(frozen=True)
class FoundDraft:
    """The earlier translation `text` of a source that is similar to a sentence, and where it was found.

    `similarity` of the two sources is 100 times one minus their edit distance by insertions and deletions of
    characters, divided by the sum of their lengths (RapidFuzz's `ratio`): 100 if and only if they are equal. If it is
    `guessed`, the source is a sentence of a longer text, and `text` is the sentence at the same place of its translation.
    `tagged` are the source and its translation with their inline tags (see Entry).
    """

    text: str
    similarity: float
    origin: Origin
    guessed: bool = False
    tagged: tuple[str, str] = ("", "")


class DraftFinder(Protocol):
    """Protocol of memories and earlier versions, which find drafts for sentences."""

    def find(self, sentences: Sequence[str]) -> Sequence[FoundDraft | None]:
        """Return a draft for each of the `sentences` that follow one another, None where nothing is similar enough."""
