"""Word-level edits between two texts."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, Protocol

Span = tuple[int, int]
UNSPACED = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
"""Pattern of a Chinese or Japanese character. These languages have no spaces between words, so each character counts as a word."""
_WORD = re.compile(rf"{UNSPACED}|(?:(?!{UNSPACED})\w)+(?:['’](?:(?!{UNSPACED})\w)+)*|[^\w\s]")  # noqa: RUF001


class Edit(NamedTuple):
    """A replacement of `source`, the characters `start` to `end` of a text, by `text`.

    Offsets are in code points, with `end` excluded. `output` are the offsets of `text` in the changed text. `score`
    says how sure the model is (see pipeline/edit_filter.py), None if it was not computed. `types` are the types of the
    errors that it corrects, as ERRANT names them; several if each word of it corrects another error, none if they were not computed.
    """

    start: int
    end: int
    source: str
    text: str
    output: tuple[int, int] = (0, 0)
    score: float | None = None
    types: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """The type of the error; R:OTHER for several errors of different types."""
        return self.types[0] if len(self.types) == 1 else "R:OTHER"


def find_edits(source: str, changed: str) -> list[Edit]:
    """The edits that turn `source` into `changed`, in order; changes of adjacent words are one edit.

    Words and single punctuation marks are compared. A change of white space is an edit only if white space is added
    where there was none, or removed completely.
    """
    before, after = _WordSpans(source), _WordSpans(changed)
    edits: list[Edit] = []
    for old, new in _changed_spans(before, after):
        if edits and edits[-1].end == old[0] and edits[-1].output[1] == new[0]:
            last = edits.pop()
            old, new = (last.start, old[1]), (last.output[0], new[1])
        edits.append(Edit(*old, source[slice(*old)], changed[slice(*new)], new))
    return edits


class Change(Protocol):
    """Protocol of a replacement of the characters `start` to `end` of a text by `text`; offsets are in code points, `end` is excluded."""

    @property
    def start(self) -> int:
        """Offset of the first replaced character, in code points."""

    @property
    def end(self) -> int:
        """Offset after the last replaced character, in code points."""

    @property
    def text(self) -> str:
        """The text that replaces these characters."""


def apply_edits(source: str, edits: Iterable[Change]) -> str:
    """Return `source` with all `edits` made; they must be in order and must not overlap, which is not checked."""
    pieces, position = [], 0
    for edit in edits:
        pieces += [source[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, source[position:]])


def with_outputs(edits: Iterable[Edit]) -> list[Edit]:
    """Return `edits`, which are in order, each with the offsets of its text in the text that they all make."""
    found, longer = [], 0
    for edit in edits:
        start = edit.start + longer
        found.append(edit._replace(output=(start, start + len(edit.text))))
        longer += len(edit.text) - (edit.end - edit.start)
    return found


def inverse_edits(edits: Iterable[Edit]) -> list[Edit]:
    """The edits that take back `edits`, which are in order, from the text that they make."""
    inverse, longer = [], 0
    for edit in edits:
        start = edit.start + longer
        inverse.append(Edit(start, start + len(edit.text), edit.text, edit.source, (edit.start, edit.end), edit.score))
        longer += len(edit.text) - len(edit.source)
    return inverse


def merge_edits(source: str, first: Sequence[Edit], second: Sequence[Edit]) -> list[Edit]:
    """The edits that change `source` as `first` does, and then the text that these make as `second` does; both are in order.

    Edits that overlap or touch become one, with the lowest of their scores. What `second` takes back is no edit.
    """
    middle, merged = apply_edits(source, first), list[Edit]()
    before = after = 0  # characters that `first`, and that `second`, have added up to here
    for group in _touching([(edit, False) for edit in inverse_edits(first)] + [(edit, True) for edit in second]):
        old, new = ([edit for edit, is_new in group if is_new is own] for own in (False, True))
        start, end = min(edit.start for edit, _ in group), max(edit.end for edit, _ in group)
        text, first_char, place = apply_edits(middle[:end], new)[start:], start - before, start + after
        before += sum(len(edit.source) - len(edit.text) for edit in old)
        after += len(text) - (end - start)
        replaced = source[first_char : end - before]
        scores = [edit.score for edit, _ in group if edit.score is not None]
        score = min(scores) if len(scores) == len(group) else None
        if text != replaced:
            merged.append(Edit(first_char, end - before, replaced, text, (place, place + len(text)), score))
    return merged


def _touching(edits: Iterable[tuple[Edit, bool]]) -> Iterator[list[tuple[Edit, bool]]]:
    """Sort the edits of a text, and yield them in groups: edits that overlap or touch each other are in one group."""
    group: list[tuple[Edit, bool]] = []
    end = -1
    for edit, is_new in sorted(edits, key=lambda each: (each[0].start, each[0].end)):
        if group and edit.start > end:
            yield group
            group = []
        group.append((edit, is_new))
        end = max(end, edit.end)
    if group:
        yield group


def edit_ratio(source: str, edits: Sequence[Edit]) -> float:
    """The number of words that `edits` replace, insert or delete, divided by the words of `source` (at least 1).

    A replacement counts the words of its longer side. The result is at least `word_edit_ratio`.
    """
    changed = sum(max(len(split_words(edit.source)), len(split_words(edit.text))) for edit in edits)
    return changed / max(len(split_words(source)), 1)


def word_edit_ratio(source: str, text: str) -> float:
    """Word-level Levenshtein distance (insertions, deletions, substitutions) from `source` to `text`, over the words
    of `source` (at least 1).
    """
    before, after = split_words(source), split_words(text)
    distances = list(range(len(after) + 1))
    for row, word in enumerate(before, start=1):
        diagonal, distances[0] = distances[0], row
        for column, other in enumerate(after, start=1):
            replaced = diagonal + (word != other)
            diagonal = distances[column]
            distances[column] = min(replaced, diagonal + 1, distances[column - 1] + 1)
    return distances[-1] / max(len(before), 1)


def split_words(text: str) -> list[str]:
    """The words of `text` and its punctuation marks, in order; in scripts without spaces, each character is a word."""
    return _WORD.findall(text)


def count_words(text: str) -> int:
    """The number of words in `text`, without punctuation marks; in scripts without spaces, each character is a word."""
    return sum(word.isalnum() or any(map(str.isalnum, word)) for word in split_words(text))


class _WordSpans:
    """The words of a text and their offsets; each word but the first has a gap (white space) before it, possibly empty."""

    def __init__(self, text: str) -> None:
        matches = list(_WORD.finditer(text))
        self.words = [match.group() for match in matches]
        self.starts = [match.start() for match in matches]
        self.ends = [match.end() for match in matches]
        # Whether the gap before each word, and that after the last, is empty.
        self.joined = [True, *(end == start for end, start in zip(self.ends, self.starts[1:], strict=False)), True]
        self._length = len(text)

    def gap(self, word: int) -> Span:
        """Offsets of the gap before a word; empty before the first word and after the last."""
        if word == len(self.words):
            end = self.ends[-1] if self.ends else self._length
            return end, end
        return self.ends[word - 1] if word else self.starts[0], self.starts[word]

    def span(self, first: int, end: int, with_gap: bool) -> Span:
        """Offsets of the words from `first` to `end` (exclusive); an empty range has the offset of the gap before `first`."""
        start = self.gap(first)[0] if with_gap or first == end else self.starts[first]
        return start, self.ends[end - 1] if first < end else start


def _changed_spans(before: _WordSpans, after: _WordSpans) -> Iterator[tuple[Span, Span]]:
    """Yield the spans that differ, as offsets in both texts."""
    matcher = SequenceMatcher(None, before.words, after.words, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                if before.joined[i] != after.joined[j]:
                    yield before.gap(i), after.gap(j)
        else:
            with_gap = kind != "replace" or before.joined[i1] != after.joined[j1]
            yield before.span(i1, i2, with_gap), after.span(j1, j2, with_gap)


class Utf16:
    """Offsets into a text in UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._astral = [] if text.isascii() else [offset for offset, character in enumerate(text) if ord(character) > 0xFFFF]

    def offset(self, offset: int) -> int:
        """The number of code units before an `offset` in code points."""
        return offset + bisect_left(self._astral, offset)
