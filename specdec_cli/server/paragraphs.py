"""Paragraphs of a text that is checked: wrapped lines joined to one, with the places of their characters."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdec_cli.server.pieces import split_line
from specdec_cli.text.edits import Edit
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.paragraphs import Paragraph, is_unfinished, join_paragraphs
from specdec_cli.text.shape import with_own_beginning
from specdec_cli.text.view import Tag, Untagged

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


@dataclass(frozen=True)
class CheckedLine:
    """A line to correct. Its characters from `starts[i]` on are those of the whole text from `offsets[i]` on.

    `continues` says that it begins inside a sentence, which was too long for one line.
    """

    text: str
    starts: tuple[int, ...]
    offsets: tuple[int, ...]
    continues: bool = False

    def place(self, offset: int) -> int:
        """The offset in the whole text, in code points, of an offset in this line."""
        index = bisect_right(self.starts, offset) - 1
        return self.offsets[index] + offset - self.starts[index]

    def divided(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return `edits` of this line, so that none replaces a line break of the whole text, or begins a sentence where none begins.

        One on both sides of a line break is divided between its words; it is left out if its two texts have different numbers of words.
        """
        bounds = [place for start in self.starts[1:] for place in (start - 1, start)]  # around the space that stands for a line break
        found = self._cut(with_own_beginning(edits) if self.continues else edits, bounds)
        return [edit for edit in found if edit.end not in self.starts or edit.start != edit.end - 1]

    def between(self, edits: Sequence[Edit], breaks: Sequence[int]) -> list[Edit]:
        """Return `edits` of this line; one that replaces words on both sides of one of `breaks` is divided between them, as by `divided`.

        `breaks` are offsets in the whole text, in order. Deletions are not divided: one part of them could be a space alone.
        """
        bounds = []
        for start, end, offset in zip(self.starts, (*self.starts[1:], len(self.text)), self.offsets, strict=True):
            among = breaks[bisect_right(breaks, offset) : bisect_left(breaks, offset + end - start)]
            bounds += [start + place - offset for place in among]
        return [part for edit in edits for part in (self._cut([edit], bounds) if edit.text.strip() else [edit])]

    def _cut(self, edits: Sequence[Edit], places: Sequence[int]) -> list[Edit]:
        tags = tuple(Tag(place, place, place, closes=False) for place in places)
        return Untagged(self.text, self.text, tags).restored(edits)


def checked_lines(text: str) -> Iterator[CheckedLine]:
    """Yield the lines of a text that are not blank; wrapped lines of a paragraph are joined, long ones divided between sentences."""
    lines: list[Line] = []
    offsets: list[int] = []
    for match in _LINE.finditer(text):
        lines.append(Line(len(lines) + 1, match[1], match[2], ""))
        offsets.append(match.start())
        if not match[2]:
            break
    for line in join_paragraphs(lines):
        if isinstance(line, Paragraph):
            indents = [0, *(len(head) for head in line.heads[1:])]
            places = tuple(offsets[one.number - 1] + indent for one, indent in zip(line.lines, indents, strict=True))
            yield from _divided(CheckedLine(line.text, line.starts, places))
        else:
            yield from _divided(CheckedLine(line.text, (0,), (offsets[line.number - 1],)))


def _divided(line: CheckedLine) -> Iterator[CheckedLine]:
    pieces = split_line(line.text)
    start, previous = 0, ""
    for gap, text in zip(pieces.gaps, pieces.texts, strict=False):
        start += len(gap)
        inner = [place for place in line.starts if start < place < start + len(text)]
        starts, offsets = (0, *(place - start for place in inner)), (line.place(start), *map(line.place, inner))
        yield CheckedLine(text, starts, offsets, is_unfinished(previous))
        start, previous = start + len(text), text
