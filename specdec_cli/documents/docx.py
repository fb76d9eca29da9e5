"""Word documents (.docx): the paragraphs of text, headers, footers, notes and comments.

The XML of each part is changed only where it is text; python-docx would write every part anew.
"""

import re
from collections.abc import Iterator, Sequence

from specdec_cli.documents.document import Document, Source
from specdec_cli.documents.docx_text import Paragraph, read_paragraphs, written_runs
from specdec_cli.documents.segments import Change, Segment
from specdec_cli.documents.xml_events import read_xml
from specdec_cli.documents.zip_parts import read_parts, with_parts
from specdec_cli.errors import InputError
from specdec_cli.text.edits import Edit, FileEdit, Point, apply_edits

_TEXT_PARTS = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml")


class WordDocument:
    """A Word document, with a segment for each paragraph, or for each line of one."""

    languages: Sequence[tuple[str, str]] = ()
    direction = ("", "")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._parts: dict[str, tuple[str, str]] = {}
        self._paragraphs: list[tuple[str, Paragraph]] = []
        for name, data in read_parts(source.data, source.name, lambda name: _TEXT_PARTS.fullmatch(name) is not None).items():
            content, encoding, events = read_xml(data, f"{source.name}, {name}")
            self._parts[name] = content, encoding
            self._paragraphs += [(name, paragraph) for paragraph in read_paragraphs(content, events)]
        if "word/document.xml" not in self._parts:
            raise InputError(f"{source.name}: not a Word document; it has no word/document.xml")
        self.segments = tuple(paragraph.segment for _, paragraph in self._paragraphs)
        self._numbers = {id(segment): number for number, segment in enumerate(self.segments, 1)}

    def translated(self, outputs: Sequence[str]) -> bytes:
        """Return the document with an output in the place of each segment."""
        return self._changed(outputs)

    def corrected(self, edits: Sequence[Sequence[Edit]]) -> bytes:
        """Return the document with the edits of each segment made."""
        return self._changed([apply_edits(segment.text, each) for segment, each in zip(self.segments, edits, strict=True)])

    def place(self, segment: Segment, offset: int) -> tuple[int, int]:
        """The number of the text, from 1, and the column in it."""
        return self._numbers[id(segment)], offset + 1

    def file_edit(self, segment: Segment, edit: Edit) -> FileEdit:
        """The number of the text of an edit, and its columns there. The file has no lines that could be changed."""
        number = self._numbers[id(segment)]
        return FileEdit(Point(number, segment.text[: edit.start]), Point(number, segment.text[: edit.end]), None)

    def _changed(self, outputs: Sequence[str]) -> bytes:
        changes: dict[str, list[Change]] = {}
        for (name, paragraph), output in zip(self._paragraphs, outputs, strict=True):
            if output != paragraph.segment.text:
                changes.setdefault(name, []).extend(written_runs(self._parts[name][0], paragraph, output))
        if not changes:
            return self._source.data
        return with_parts(self._source.data, dict(self._written(changes)), self._source.name)

    def _written(self, changes: dict[str, list[Change]]) -> Iterator[tuple[str, bytes]]:
        for name, each in changes.items():
            content, encoding = self._parts[name]
            yield name, apply_edits(content, sorted(each)).encode(encoding, "xmlcharrefreplace")


def read_docx(source: Source) -> Document:
    """Parse a Word document. Raises InputError for a file that is none, is damaged, or is too large after decompression."""
    return WordDocument(source)
