"""The protocol of documents, documents that are one text with segments at offsets into it, and places of edits in files."""

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, Protocol

from specdec_cli.documents.reading import line_at
from specdec_cli.documents.segments import Change, Segment
from specdec_cli.errors import InputError
from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, Utf16, apply_edits


class Point(NamedTuple):
    """A place between two characters of a file: the number of its line, from 1, and the text of the line before it."""

    line: int
    before: str


class FileEdit(NamedTuple):
    """A replacement of what is between two points of a file by `text`; None if programs cannot make it
    in the file, which is no text, or compressed.
    """

    start: Point
    end: Point
    text: str | None


def column(point: Point) -> int:
    """The column of a point, from 1, in Unicode code points. A byte order mark is not counted."""
    return len(_visible(point)) + 1


def byte_column(point: Point) -> int:
    """The column of a point, from 1, in bytes of UTF-8. A byte order mark is not counted."""
    return len(_visible(point).encode("utf-8", "surrogatepass")) + 1


def utf16_column(point: Point) -> int:
    """The column of a point, from 1, in UTF-16 code units. A byte order mark is not counted."""
    visible = _visible(point)
    return Utf16(visible).offset(len(visible)) + 1


def _visible(point: Point) -> str:
    return point.before.removeprefix("\ufeff")


Purpose = Literal["translate", "correct"]


@dataclass(frozen=True)
class Source:
    """A document as it was read: its bytes, the name of its file for messages, and what it is read for.

    With `redo`, units that are translated already are segments too, and the first row of a table; with `front_matter`, so are title and
    description of Markdown. `language` is that of its text, "" if it is not known: what is marked with another one is no segment. Of a
    table, only the cells of `columns` are segments: names in the first row, or numbers from 1; without any, those of all columns.
    """

    data: bytes
    name: str
    purpose: Purpose = "translate"
    redo: bool = False
    front_matter: bool = False
    language: str = ""
    columns: tuple[str, ...] = ()


class Document(Protocol):
    """Protocol: a parsed document, with its segments in order."""

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to decode."""

    @property
    def languages(self) -> Sequence[tuple[str, str]]:
        """The codes of source and target language that the document states; "" for one that does not matter or is not stated."""

    direction: tuple[str, str]
    """Source and target language of the translation, "" for unknown ones, for formats that state the language of their text."""

    def translated(self, outputs: Sequence[str]) -> bytes:
        """Return the document with an output in the place of each segment."""

    def corrected(self, edits: Sequence[Sequence[Edit]]) -> bytes:
        """Return the document with the edits of each segment made."""

    def place(self, segment: Segment, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset into the text of a segment. Columns are in code points."""

    def file_edit(self, segment: Segment, edit: Edit) -> FileEdit:
        """The change of the file that makes an edit of the text of a segment."""


class TextDocument:
    """A document that is one text, `content`, whose segments are replaced where they are.

    The text is encoded as `encoding`; characters that this lacks become character references if `references` is
    true, and else raise InputError. Bytes at the ends of `data` that are no text (a byte order mark) are kept by the
    encoding. The text states its language in the characters `stated` (start, end): the source language there becomes the target language.
    """

    def __init__(
        self,
        source: Source,
        content: str,
        segments: Iterable[Segment],
        encoding: str = "utf-8",
        *,
        references: bool = False,
        stated: Iterable[tuple[int, int]] = (),
    ) -> None:
        self.source, self.content, self.segments = source, content, tuple(segments)
        self.languages: Sequence[tuple[str, str]] = ()
        self.direction = ("", "")
        self._encoding, self._references, self._stated = encoding, references, tuple(stated)
        self._starts = line_starts(content)

    def translated(self, outputs: Sequence[str]) -> bytes:
        """Return the document with an output in the place of each segment."""
        source, target = map(short_code, self.direction)
        codes = ((place, self.content[slice(*place)]) for place in self._stated if source and target)
        stated = [Change(*place, self.direction[1]) for place, code in codes if short_code(code) == source]
        return self.changed([*stated, *self.replacements(outputs)])

    def replacements(self, outputs: Sequence[str]) -> list[Change]:
        """Return the changes of the document for the outputs of its segments.

        A segment may be inside the markup of a later one, as the attribute of a tag; its change then is part of that one's.
        """
        changes: list[Change] = []
        for segment, output in zip(self.segments, outputs, strict=True):
            if output != segment.text:
                inner: list[Change] = []
                after: list[Change] = []  # in markup that is not part of the segment
                while changes and segment.begin <= changes[-1].start:
                    (inner if changes[-1].end <= segment.finish else after).append(changes.pop())
                changes += [segment.replaced(output, partial(self._read, inner[::-1])), *after[::-1]]
        return changes

    def _read(self, inner: Sequence[Change], begin: int, finish: int) -> str:
        """The characters `begin` to `finish` of the document, with the changes `inner` that are among them made."""
        first, last = (bisect.bisect_left(inner, offset, key=lambda each: each.start) for offset in (begin, finish))
        shifted = [Change(each.start - begin, each.end - begin, each.text) for each in inner[first:last]]
        return apply_edits(self.content[begin:finish], shifted)

    def corrected(self, edits: Sequence[Sequence[Edit]]) -> bytes:
        """Return the document with the edits of each segment made."""
        return self.changed(change for segment, each in zip(self.segments, edits, strict=True) for change in segment.edited(each))

    def changed(self, changes: Iterable[Change]) -> bytes:
        """Return the document with `changes` made, which may be in any order; its own bytes if there are none.

        Raises InputError for a character that the document's encoding lacks.
        """
        ordered = sorted(changes)
        if not ordered:
            return self.source.data
        text = apply_edits(self.content, ordered)
        try:
            return text.encode(self._encoding, "xmlcharrefreplace" if self._references else "strict")
        except UnicodeEncodeError as error:
            line = line_at(self.source.name, text, error.start)
            raise InputError(f"{line}: {self._encoding} has no {text[error.start]!r}; convert the file to UTF-8") from error

    def place(self, segment: Segment, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset into the text of a segment. Columns are in code points."""
        return line_and_column(self._starts, segment.position(offset))

    def file_edit(self, segment: Segment, edit: Edit) -> FileEdit:
        """The change of the file that makes an edit of the text of a segment."""
        change = segment.change(self.content, edit)
        return FileEdit(point_at(self.content, self._starts, change.start), point_at(self.content, self._starts, change.end), change.text)


def point_at(text: str, starts: Sequence[int], offset: int) -> Point:
    """The point at an `offset` into a text whose lines begin at `starts`."""
    line, column = line_and_column(starts, offset)
    return Point(line, text[offset - column + 1 : offset])


def line_starts(text: str) -> list[int]:
    """The offset of the beginning of each line of `text`; LF ends a line."""
    return [0, *_ends(text)]


def line_and_column(starts: Sequence[int], offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of an `offset` into a text whose lines begin at `starts`."""
    line = bisect.bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def _ends(text: str) -> Iterator[int]:
    position = text.find("\n")
    while position >= 0:
        yield position + 1
        position = text.find("\n", position + 1)


def check_languages(document: Document, name: str, source: str, target: str) -> None:
    """Tell a document the languages of the model, of which "" is unknown. Raises InputError if it names others; regions are ignored."""
    for stated in document.languages:
        for side, language, expected in zip(("source", "target"), stated, (source, target), strict=True):
            if language and expected and short_code(language) != short_code(expected):
                raise InputError(f"{name}: its {side} language is {language}, but that of the model is {expected}")
    document.direction = source, target
