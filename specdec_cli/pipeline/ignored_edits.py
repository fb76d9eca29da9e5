"""Edits that the user does not want: those of certain words, and those of certain categories of errors."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from specdec_cli.error_types.names import belongs_to, checked_names
from specdec_cli.text.edits import Edit
from specdec_cli.text.io.lines import read_listed


@dataclass(frozen=True)
class IgnoredEdits:
    """Words that must not change, and categories (or types) of errors that are not corrected.

    A word in lower case stands for any case of it, any other only for itself.
    """

    words: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str] = (), files: Iterable[Path] = (), categories: Iterable[str] = ()) -> Self:
        """Make the rule that rejects edits of `words`, of the words in `files` (one per line; see `read_listed`), or of `categories`.

        Raises InputError for a file that cannot be read, and UsageError for a category that does not exist.
        """
        lines = (line for file in files for _, line in read_listed(file))
        ignored = {" ".join(word.split()) for word in (*words, *lines)}
        return cls(tuple(sorted(ignored - {""})), checked_names(categories))

    def with_words(self, words: Iterable[str]) -> Self:
        """The same rule, which also rejects edits of `words`."""
        return replace(self, words=tuple(sorted({*self.words, *words})))

    def passing(self, text: str, edits: Sequence[Edit]) -> list[Edit]:
        """Return those of the `edits` of a text that are wanted."""
        spans = self._spans(text) if edits and self.words else ()
        return [edit for edit in edits_outside(edits, spans, _changes) if not self._is_of_category(edit)]

    def _is_of_category(self, edit: Edit) -> bool:
        """Whether all types of an edit belong to the categories."""
        return bool(edit.types) and all(any(belongs_to(type, name) for name in self.categories) for type in edit.types)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where the words that must not change begin and end in `text`; they may overlap."""
        starts, ends = ({match.start() for match in re.finditer(bound, text)} for bound in (r"(?<!\w)", r"(?!\w)"))
        for start in starts:
            for length in self._lengths:
                if start + length in ends and self._is_known(text[start : start + length]):
                    yield start, start + length

    def _is_known(self, word: str) -> bool:
        lower = word.lower()
        return word in self._known or (lower in self._known and lower.islower())

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def _lengths(self) -> frozenset[int]:
        return frozenset(map(len, self.words))


def edits_outside(edits: Iterable[Edit], spans: Iterable[tuple[int, int]], changes: Callable[[Edit, int, int], bool]) -> list[Edit]:
    """Return the `edits` that leave all `spans` (start, end) of their text unchanged.

    `changes` returns whether an edit changes a span; it is called only for spans that are near an edit.
    """
    ordered = sorted(spans)
    starts, longest = [start for start, _ in ordered], max((end - start for start, end in ordered), default=0)
    near = ((edit, ordered[bisect_left(starts, edit.start - longest) : bisect_right(starts, edit.end)]) for edit in edits)
    return [edit for edit, found in near if not any(changes(edit, *span) for span in found)]


def _changes(edit: Edit, start: int, end: int) -> bool:
    """Whether an edit changes the word from `start` to `end`, or adds letters to it."""
    longer = edit.start == edit.end == end and edit.text[:1].isalnum()
    earlier = edit.start == edit.end == start and edit.text[-1:].isalnum()
    return longer or earlier or (edit.start < end and start < edit.end)
