"""The inputs of a command: files of one format that are decoded together, and the segments of documents as lines."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_cli.documents.formats import DOCUMENTS, LINES, Format, format_of, read_document
from specdec_cli.errors import UsageError
from specdec_cli.text.io.lines import STDIO, Line, LineTooLong, check_files, name_of

if TYPE_CHECKING:
    from specdec_cli.documents.document import Document, Purpose
    from specdec_cli.documents.segments import Segment
    from specdec_cli.text.edits import Edit, FileEdit


@dataclass(frozen=True)
class SegmentLine(Line):
    """A segment of a document as a line; its number is that of the line in the document where it begins."""

    document: "Document | None" = None
    segment: "Segment | None" = None

    def fitted(self, edits: "Sequence[Edit]") -> "list[Edit]":
        """Return those of `edits` of the text of the segment that its lines in the document allow."""
        assert self.segment is not None
        return self.segment.fitted(edits)

    def file_edit(self, edit: "Edit") -> "FileEdit":
        """The change of the document that makes an edit of the text of the segment."""
        assert self.document is not None and self.segment is not None
        return self.document.file_edit(self.segment, edit)


@dataclass(frozen=True)
class Input:
    """Files of one format that are decoded together: files with lines (`-` is stdin), or one document.

    Once they are read, `lines` are their lines, or the segments of the `document` as lines.
    """

    format: Format
    files: tuple[Path, ...]
    document: "Document | None" = None
    lines: Iterable[Line] = ()

    @property
    def is_document(self) -> bool:
        """Whether the input is a document."""
        return self.format in DOCUMENTS

    def open_document(self, purpose: "Purpose", *, redo: bool = False, front_matter: bool = False) -> "Document":
        """Read and parse the document. Raises InputError for one that cannot be read, and UsageError for a missing library.

        `purpose`, `redo` and `front_matter` are those of documents.document.Source.
        """
        from specdec_cli.documents.document import Source
        from specdec_cli.documents.reading import read_bytes

        (path,) = self.files
        return read_document(Source(read_bytes(path), name_of(path), purpose, redo, front_matter), self.format)

    def segment_lines(self, document: "Document", max_characters: int) -> Iterator[Line]:
        """Yield the segments of the document as lines. Raises LineTooLong for one of more than `max_characters`."""
        (path,) = self.files
        for segment in document.segments:
            number, _ = document.place(segment, 0)
            location = f"{name_of(path)}, line {number}"
            if len(segment.text) > max_characters:
                raise LineTooLong(f"{location}: a text of more than {max_characters} characters")
            file = None if path == STDIO else path
            yield SegmentLine(number, segment.text, "\n", location, file, document=document, segment=segment)


def inputs_of(files: Sequence[Path], format: Format | None) -> list[Input]:
    """Return the inputs, in order; without files, stdin. `format` is that of all of them (None: by the endings of their names).

    Raises InputError for a missing file and for a folder.
    """
    check_files(files)
    found: list[Input] = []
    for name, group in groupby(files or (STDIO,), key=lambda path: format or (LINES if path == STDIO else format_of(path))):
        paths = tuple(group)
        found += [Input(name, (path,)) for path in paths] if name in DOCUMENTS else [Input(name, paths)]
    return found


def check_lines(files: Sequence[Path], format: Format | None) -> None:
    """Raise UsageError if one of `files`, read as `format` (None: by its ending), is a document."""
    for path in files:
        if (format or format_of(path)) in DOCUMENTS:
            raise UsageError(f"{path}: --ray decodes lines; give --format lines to decode those of a document")


def check_stdin(files: Sequence[Path], option: str, named: Sequence[Path] | None) -> None:
    """Raise UsageError if stdin is both the text to decode and one of the files that `option` names.

    Stdin can be read only once, so the second reader would find it empty.
    """
    if STDIO in (named or ()) and (not files or STDIO in files):
        raise UsageError(f"{option} -: stdin is the text; give a FILE, or another file to {option}")
