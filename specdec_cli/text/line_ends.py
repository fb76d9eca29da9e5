"""Detection of sentences that continue on the next line, and removal of edits that must not be made at such line
ends.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from specdec_cli.text.edits import Edit
from specdec_cli.text.marks import Marked, split_marks

_END = re.compile(r"[.!?\u2026:;\u3002\uff01\uff1f][\"')\]\u2019\u201d\u00bb]*$")
_ADDED = re.compile(r"(?<!\.)[.,;:?!]$")
_LAST_MARKS = re.compile(r"\s*[.,;:?!\u2026]*$")
_COMMENT = re.compile(r"[#%/;=<]|--|\.\.")
_MAX_WRAPPED_WIDTH = 100
"""The largest number of characters in a line of a wrapped text."""
_MIN_WRAPPED_LINES = 3
"""The smallest number of lines in which wrapping is detected."""
_MIN_LENGTH = 40
"""Shorter lines (in characters) are not joined with the next one, unless the text has a visible wrap width."""


def without_added_stop(output: str, source: str) -> str:
    """Return `output` without its last character if that is one of . , ; : ? ! and `source` ends with a letter or
    digit.

    Otherwise, and if a full stop is before this character (as in an ellipsis), `output` is returned as it is.
    """
    return _ADDED.sub("", output) if source[-1:].isalnum() else output


def find_continued(lines: Sequence[str]) -> list[bool]:
    """For each line, whether its last sentence continues on the next line.

    A line that does not end with punctuation continues if the next one begins in lower case, or if both belong to a
    wrapped text. A text is wrapped if it has at least three lines, no line has more than 100 characters, and the
    first word of each line would not have fitted on the line before.
    """
    marked = [split_marks(line) for line in lines]
    found = [False] * len(lines)
    for first, wrapped in _blocks(lines, marked):
        for index, is_wrapped in enumerate(wrapped[:-1], first):
            open_end = not _END.search(marked[index].body)
            found[index] = open_end and (is_wrapped or marked[index + 1].body[0].islower())
    return found


def find_wrapped(lines: Sequence[str]) -> list[bool]:
    """For each line, whether the next line belongs to the same wrapped paragraph.

    Other than in `find_continued`, a sentence may end with the line, but not every line of a paragraph ends one, and its
    last line ends one. Two lines that no width shows to be wrapped belong together if the first has at least 40
    characters and an unfinished sentence, and the second begins in lower case, but not among lines most of which end a
    sentence: these are a list of sentences. Lines that begin with different markers never do.
    """
    marked = [split_marks(line) for line in lines]
    found = [False] * len(lines)
    for first, wrapped in _blocks(lines, marked):
        ended = [bool(_END.search(marked[index].body)) for index in range(first, first + len(wrapped))]
        is_list = 2 * sum(ended) > len(ended)
        for index, is_wrapped in enumerate(wrapped[:-1], first):
            going = not ended[index - first] and _MIN_LENGTH <= len(lines[index]) <= _MAX_WRAPPED_WIDTH
            found[index] = (is_wrapped and not all(ended)) or (going and not is_list and marked[index + 1].body[0].islower())
        last = first + len(wrapped)
        for index in reversed(range(first, last - 1)):  # lines before one that ends no sentence stay as they are
            last = index + 1 if not found[index + 1] else last
            found[index] = found[index] and ended[last - first]
    return found


def is_unfinished(line: str) -> bool:
    """Whether `line` has text and this text does not end with one of . ! ? … : ; or their full-width forms, with
    closing quotes or a bracket after it or not. Markers such as bullets do not count as text.
    """
    body = split_marks(line).body
    return bool(body) and not _END.search(body)


def drop_boundary_edits(edits: Sequence[Edit], start: int, end: int, *, continues_next: bool, continues_previous: bool) -> list[Edit]:
    """Return `edits`, dropped or changed where they would begin or end a sentence at a line end inside it.

    The text of the edits has the offsets `start` to `end` in its line. If its sentence continues on the next line
    (`continues_next`), the punctuation at `end` is kept. If it continues from the previous line
    (`continues_previous`), the first letter keeps its case (except for the pronoun I), and no capitalised word is
    inserted before it.
    """
    kept: list[Edit] = []
    for edit in edits:
        if continues_next and edit.end == end:
            if not _without_marks(edit.text):
                continue
            edit = replace(edit, text=_without_marks(edit.text) + edit.source[len(_without_marks(edit.source)) :])
        if continues_previous and edit.start == start and not re.match(r"I\b", edit.text):
            edit = replace(edit, text=_as_in(edit.source, edit.text))
            if edit.text[:1].isupper() and not edit.source[:1].isupper():
                continue  # it would begin a sentence
        if edit.text != edit.source:
            kept.append(edit)
    return kept


def _blocks(lines: Sequence[str], marked: Sequence[Marked]) -> Iterator[tuple[int, list[bool]]]:
    """Yield each block of lines that can be a paragraph: the index of its first line, and for each line whether it is wrapped."""
    first = 0
    for end in range(1, len(lines) + 1):
        if end == len(lines) or not _follows(marked[end - 1], marked[end]):
            yield first, _wrapped(lines[first:end], marked[first:end])
            first = end


def _follows(line: Marked, following: Marked) -> bool:
    """Whether two lines can belong to one paragraph: both have text; their leading marks are equal, or the second has none."""
    same = following.head == line.head and not re.search(r"\w|[-*+\u2022|=]", line.head)
    plain = not following.head.strip() and not _COMMENT.search(line.head)
    return bool(line.body and following.body and (same or plain))


def _wrapped(lines: Sequence[str], marked: Sequence[Marked]) -> list[bool]:
    """For each line, whether it is wrapped; a line of less than half the length of the longest ends its paragraph."""
    width = max(map(len, lines))
    ends = [number for number, line in enumerate(lines[:-1], 1) if 2 * len(line) < width]
    found: list[bool] = []
    for first, end in pairwise([0, *ends, len(lines)]):
        words = (line.body.split()[0] for line in marked[first + 1 : end])
        full = all(len(line) + 1 + len(word) > width for line, word in zip(lines[first:end], words, strict=False))
        found += [full and end - first >= _MIN_WRAPPED_LINES and width <= _MAX_WRAPPED_WIDTH] * (end - first - 1) + [False]
    return found


def _without_marks(text: str) -> str:
    return _LAST_MARKS.sub("", text)


def _as_in(source: str, text: str) -> str:
    """`text` with its first letter in the case of that of `source`, if both are the same letter."""
    return source[0] + text[1:] if source[:1].lower() == text[:1].lower() != "" else text
