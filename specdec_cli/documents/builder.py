"""Construction of segments: text, escaped characters, gaps and inline markup are added in the order of the document."""

import re
from dataclasses import replace

from specdec_cli.documents.segments import STAND_IN, Layout, Piece, Segment
from specdec_cli.text.protect.spans import without_protected

_TEXT, _GAP, _OPEN, _CLOSE, _SINGLE, _VOID, _BREAK = range(7)
_LETTERS = {_SINGLE: "x", _VOID: "v", _BREAK: "n"}
_SPACE = re.compile(r"\s*")
Part = tuple[int, int, int, str]
"""Kind, begin and finish in the document, text."""


class SegmentBuilder:
    """Collects the parts of a segment of the document `content`."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._parts: list[Part] = []

    def text(self, begin: int, finish: int) -> None:
        """Add the characters `begin` to `finish` of the document, which contain no line break."""
        if begin < finish:
            self._parts.append((_TEXT, begin, finish, self._content[begin:finish]))

    def instead(self, begin: int, finish: int, text: str) -> None:
        """Add `text`, which the characters `begin` to `finish` of the document stand for, such as an escape."""
        self._parts.append((_TEXT, begin, finish, text))

    def gap(self, begin: int, finish: int) -> None:
        """Add a space, for characters that separate words, such as a line break with the indentation after it."""
        self._parts.append((_GAP, begin, finish, " "))

    def open(self, begin: int, finish: int) -> None:
        """Add markup that opens a pair."""
        self._parts.append((_OPEN, begin, finish, ""))

    def close(self, begin: int, finish: int) -> None:
        """Add markup that closes the pair that was opened last."""
        self._parts.append((_CLOSE, begin, finish, ""))

    def single(self, begin: int, finish: int) -> None:
        """Add markup that is no part of a pair and may stand for a word, such as code, or anything else that must not change."""
        self._parts.append((_SINGLE, begin, finish, ""))

    def void(self, begin: int, finish: int) -> None:
        """Add markup without a meaning in its sentence, such as a comment or the mark of a footnote."""
        self._parts.append((_VOID, begin, finish, ""))

    def line_break(self, begin: int, finish: int) -> None:
        """Add markup that separates words as a space does, such as a line break or an image."""
        self._parts.append((_BREAK, begin, finish, ""))

    def build(self, layout: Layout | None = None) -> Segment | None:
        """Return the segment, without white space and markup around its text; None if it has no letters.

        The marks of `layout` are filled in.
        """
        parts = _trimmed(self._parts, _pairs(self._parts))
        names = _names(parts, _pairs(parts))
        pieces, marks, length, texts = [], {}, 0, []
        for (kind, begin, finish, own), name in zip(parts, names, strict=True):
            text = name or own
            pieces.append(Piece(length, length + len(text), begin, finish, kind == _GAP))
            texts.append(text)
            length += len(text)
            if name:
                marks[name] = begin, finish
        text = "".join(texts)
        if not any(map(str.isalpha, without_protected(text))):
            return None
        found = Segment(text, tuple(pieces), replace(layout or Layout(), marks=marks))
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return found.part(start, end) if (start, end) != (0, len(text)) else found


def _pairs(parts: list[Part]) -> dict[int, int]:
    """The index of the closing part for each opening part, and the reverse; parts without a counterpart are missing."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for index, part in enumerate(parts):
        if part[0] == _OPEN:
            opened.append(index)
        elif part[0] == _CLOSE and opened:
            first = opened.pop()
            pairs |= {first: index, index: first}
    return pairs


def _trimmed(parts: list[Part], pairs: dict[int, int]) -> list[Part]:
    """`parts` without white space, single markup, and pairs around everything, at both ends."""
    first, last = 0, len(parts) - 1

    def is_removable(index: int) -> bool:
        kind, _, _, text = parts[index]
        return kind in (_GAP, *_LETTERS) or (kind == _TEXT and not text.strip()) or (kind in (_OPEN, _CLOSE) and index not in pairs)

    while first <= last:
        if is_removable(first):
            first += 1
        elif is_removable(last):
            last -= 1
        elif pairs.get(first) == last or (parts[first][0] == _OPEN and pairs.get(first) == first + 1):
            first, last = first + 1, last - (pairs[first] == last)
        elif parts[first][0] == _CLOSE and pairs[first] < first:
            first += 1
        elif parts[last][0] == _CLOSE and pairs.get(last) == last - 1:
            last -= 2
        else:
            break
    return parts[first : last + 1]


def _names(parts: list[Part], pairs: dict[int, int]) -> list[str]:
    """The stand-in for each part, "" for text; numbers that occur in the text already are not used."""
    taken = {int(number) for part in parts for each in STAND_IN.findall(part[3]) for number in re.findall(r"\d+", each)}
    number, numbers, names = 0, {}, []
    for index, part in enumerate(parts):
        if part[0] in (_TEXT, _GAP):
            names.append("")
            continue
        first = min(index, pairs.get(index, index))
        if first not in numbers:
            number = next(each for each in range(number + 1, number + len(taken) + 2) if each not in taken)
            numbers[first] = number
        slash = "/" if part[0] == _CLOSE else ""
        letter = _LETTERS.get(part[0], "v")
        names.append(f"<{slash}g{numbers[first]}>" if index in pairs else f"<{letter}{numbers[first]}/>")
    return names
