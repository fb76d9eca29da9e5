"""The record of a draft that was found for a sentence, the protocol of what finds it, and the similarity of sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from specdec_cli.errors import MissingLibraryError

Origin = Literal["tm", "previous"]
"""Where a draft comes from: a translation memory, or an earlier version of the text."""
SIMILARITY = 70.0
"""Least similarity of a draft's source in percent, if none is given."""
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


def load_rapidfuzz() -> tuple[Callable[..., Any], Callable[..., float]]:
    """Return RapidFuzz's functions `extractOne` and `ratio`. Raises UsageError if it is not installed."""
    try:
        from rapidfuzz import fuzz, process
    except ImportError:
        raise MissingLibraryError("similar sentences are found by RapidFuzz", "documents") from None
    return process.extractOne, fuzz.ratio
