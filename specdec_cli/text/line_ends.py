"""Where a sentence goes on in the next line, and what must then not change at the end of the one and the start of the other."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from specdec_cli.text.edits import Edit
from specdec_cli.text.marks import Marked, split_marks

_END = re.compile(r"[.!?\u2026:;\u3002\uff01\uff1f][\"')\]\u2019\u201d\u00bb]*$")
_ADDED = re.compile(r"(?<!\.)[.,;:?!]$")
_LAST_MARKS = re.compile(r"\s*[.,;:?!\u2026]*$")
_COMMENT = re.compile(r"[#%/;=<]|--|\.\.")
_WIDEST = 100
"""Characters of a line that an editor may have wrapped, at most."""
_FEWEST = 3
"""Lines of text from which on wrapping can be told."""


def without_full_stop(output: str, source: str) -> str:
    """`output` without the punctuation mark at its end if `source` ends with a letter or digit."""
    return _ADDED.sub("", output) if source[-1:].isalnum() else output


def continued(lines: Sequence[str]) -> list[bool]:
    """Which of some lines go on in the next one.

    A line without punctuation at its end goes on if the next one begins in lower case, or if both are of a text that
    was wrapped: no line is wide, and no line could have taken the first word of the next.
    """
    marked = [split_marks(line) for line in lines]
    found = [False] * len(lines)
    first = 0
    for end in range(1, len(lines) + 1):
        if end < len(lines) and _follows(marked[end - 1], marked[end]):
            continue
        wrapped = _wrapped(lines[first:end], marked[first:end])
        for place in range(first, end - 1):
            unended = not _END.search(marked[place].body)
            found[place] = unended and (wrapped[place - first] or marked[place + 1].body[0].islower())
        first = end
    return found


def may_go_on(line: str) -> bool:
    """Whether a line has text without punctuation at its end."""
    body = split_marks(line).body
    return bool(body) and not _END.search(body)


def unfinished(edits: Sequence[Edit], start: int, end: int, *, goes_on: bool, continues: bool) -> list[Edit]:
    """`edits` of a text that stands from `start` to `end` of its line, less those that begin or end a sentence there.

    The punctuation at the end of a text that `goes_on` stays. The first letter of one that `continues` another keeps its
    case, but for the pronoun I, and no capitalised word comes before it.
    """
    kept: list[Edit] = []
    for edit in edits:
        if goes_on and edit.end == end:
            if not _without_marks(edit.text):
                continue
            edit = replace(edit, text=_without_marks(edit.text) + edit.source[len(_without_marks(edit.source)) :])
        if continues and edit.start == start and not re.match(r"I\b", edit.text):
            edit = replace(edit, text=_as_in(edit.source, edit.text))
            if edit.text[:1].isupper() and not edit.source[:1].isupper():
                continue  # the beginning of a sentence that begins elsewhere
        if edit.text != edit.source:
            kept.append(edit)
    return kept


def _follows(line: Marked, following: Marked) -> bool:
    """Whether two lines may be of one paragraph: both have text, and the same mark of a comment or quotation, or the second has none."""
    same = following.head == line.head and not re.search(r"\w|[-*+\u2022|=]", line.head)
    plain = not following.head.strip() and not _COMMENT.search(line.head)
    return bool(line.body and following.body and (same or plain))


def _wrapped(lines: Sequence[str], marked: Sequence[Marked]) -> list[bool]:
    """Which lines were wrapped; those that are less than half as long as the longest were not."""
    width = max(map(len, lines))
    ends = [number for number, line in enumerate(lines[:-1], 1) if 2 * len(line) < width]
    found: list[bool] = []
    for first, end in pairwise([0, *ends, len(lines)]):
        words = (line.body.split()[0] for line in marked[first + 1 : end])
        full = all(len(line) + 1 + len(word) > width for line, word in zip(lines[first:end], words, strict=False))
        found += [full and end - first >= _FEWEST and width <= _WIDEST] * (end - first - 1) + [False]
    return found


def _without_marks(text: str) -> str:
    return _LAST_MARKS.sub("", text)


def _as_in(source: str, text: str) -> str:
    """`text` with its first letter in the case that it has in `source`, if it is the same letter."""
    return source[0] + text[1:] if source[:1].lower() == text[:1].lower() != "" else text
