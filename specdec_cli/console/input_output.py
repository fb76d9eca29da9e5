"""What a command reads, files of one format that are decoded together or the segments of a document as lines; and where it writes lines and
documents: stdout, a file, a folder, or the files that were read.
"""

import errno
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from specdec_cli.documents.document import Document, FileEdit, Purpose, Source
from specdec_cli.documents.formats import DOCUMENTS, LINES, PACKAGES, Format, format_of, read_document
from specdec_cli.documents.reading import read_bytes
from specdec_cli.documents.segments import Segment
from specdec_cli.documents.unread import check_readable
from specdec_cli.errors import InputError, UsageError, cause_of, counted
from specdec_cli.failures import reader_has_gone
from specdec_cli.files import check_target, is_device, write_atomically
from specdec_cli.text.edits import Edit
from specdec_cli.text.io.lines import COMPRESSED, STDIO, Line, LineTooLong, check_files, name_of
from specdec_cli.text.io.writing import FolderWriter, LineWriter, Writer, check_not_input, compressed, write_failures


@dataclass(frozen=True)
class SegmentLine(Line):
    """A segment of a document, decoded like a line of text. Its `number` is the line of the document in which the segment begins."""

    document: Document | None = None
    segment: Segment | None = None

    def fitted(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return those of `edits` of the text of the segment that its lines in the document allow."""
        assert self.segment is not None
        return self.segment.fitted(edits)

    def file_edit(self, edit: Edit) -> FileEdit:
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
    document: Document | None = None
    lines: Iterable[Line] = ()

    @property
    def is_document(self) -> bool:
        """Whether the input is a document."""
        return self.format in DOCUMENTS

    def open_document(self, purpose: Purpose, **options: Any) -> Document:
        """Read and parse the document. Raises InputError for one that cannot be read, and UsageError for a missing library.

        `purpose` and `options` are fields of documents.document.Source.
        """
        (path,) = self.files
        return read_document(Source(read_bytes(path), name_of(path), purpose, **options), self.format)

    def segment_lines(self, document: Document, max_characters: int) -> Iterator[Line]:
        """Yield the segments of the document as lines. Raises LineTooLong for one of more than `max_characters`."""
        (path,) = self.files
        for segment in document.segments:
            number, _ = document.place(segment, 0)
            location = f"{name_of(path)}, line {number}"
            if len(segment.text) > max_characters:
                raise LineTooLong(f"{location}: a text of more than {counted(max_characters, 'character')}")
            file = None if path == STDIO else path
            yield SegmentLine(number, segment.text, "\n", location, file, document=document, segment=segment)


def inputs_of(files: Sequence[Path], format: Format | None, *, writes: bool = True) -> list[Input]:
    """Return the inputs in the order of `files`; without files, stdin. All are read as `format`; None: each by the ending of its name.

    Raises InputError for a missing file, for a folder, and if the command `writes` text, for a structured file without a reader.
    """
    check_files(files)
    if format is None and writes:
        check_readable(files)
    found: list[Input] = []
    for name, group in groupby(files or (STDIO,), key=lambda path: format or (LINES if path == STDIO else format_of(path))):
        paths = tuple(group)
        found += [Input(name, (path,)) for path in paths] if name in DOCUMENTS else [Input(name, paths)]
    return found


def check_lines(files: Sequence[Path], format: Format | None) -> None:
    """Raise UsageError if one of `files` is a document: by `format`, or by the ending of its name if that is None; then raise InputError
    for a structured file without a reader.
    """
    if format is None:
        check_readable(files)
    for path in files:
        if (format or format_of(path)) in DOCUMENTS:
            raise UsageError(f"{path}: --ray decodes lines; give --format lines to decode those of a document")


def check_stdin(files: Sequence[Path], option: str, named: Sequence[Path] | None) -> None:
    """Raise UsageError if stdin is both the text to decode and one of the files that `option` names.

    Stdin can be read only once, so the second reader would find it empty.
    """
    if STDIO in (named or ()) and (not files or STDIO in files):
        raise UsageError(f"{option} -: stdin is the text; give a FILE, or another file to {option}")


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Outputs(Protocol):
    """Protocol: writes lines and documents; a context manager, whose end completes the files."""

    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None:
        """Write a line of the output of the input file `source` (None: stdin)."""

    def write_document(self, data: bytes, source: Path) -> None:
        """Write the document that was made from `source`."""

    def check(self) -> None:
        """Raise BrokenPipeError if the output is a pipe that no process reads."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


def open_outputs(inputs: Sequence[Input], output: Path | None, folder: Path | None, *, one_stream: bool, in_place: bool) -> Outputs:
    """Open the outputs of the inputs. Raises UsageError for outputs that the inputs do not allow.

    With `one_stream`, everything is written as lines to `output`, or to files in `folder`.
    """
    files = [path for each in inputs for path in each.files]
    documents = () if one_stream else tuple(each.files[0] for each in inputs if each.is_document)
    if in_place:
        return InPlace(files)
    if folder is not None:
        return _Files(FolderWriter(folder, () if files == [STDIO] else files, documents))
    target = None if output == STDIO else output
    if target is not None:
        check_target(target)
    if not documents:
        return _Files(LineWriter(target, () if files == [STDIO] else files))
    if len(files) > 1:
        raise UsageError(f"{documents[0]}: a document among several files; give --output-dir FOLDER")
    check_not_input(target, () if files == [STDIO] else files)
    if inputs[0].format in PACKAGES and output is None and sys.stdout.isatty():
        raise UsageError(f"{documents[0]}: this format is not written to a terminal; give --output FILE")
    return _OneDocument(target)


def write_document(data: bytes, target: Path) -> None:
    """Write a document to a file, completely or not at all; a file whose name ends with .gz or .xz is compressed.

    A link remains a link, a file keeps its permissions, and a device or pipe is written to. Raises UsageError if the
    file cannot be written, InputError if the disk is full, and ReaderGone for a closed pipe.
    """
    if is_device(target):
        with write_failures(str(target)):
            _fill(target, data, target.suffix)
        return
    try:
        real = target.resolve()
        mode = real.stat().st_mode if real.exists() else None
        write_atomically(real, lambda partial: _fill(partial, data, target.suffix))
        if mode is not None:
            real.chmod(mode & 0o7777)
    except OSError as error:
        failure = InputError if error.errno in _FULL else UsageError
        raise failure(f"{target}: {cause_of(error)}") from error


def _fill(path: Path, data: bytes, suffix: str) -> None:
    with compressed(path, suffix) as stream:
        stream.write(data)


class _Files:
    """Lines to a writer; documents to the files of a folder."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None:
        self._writer.write(text, ending, source)

    def write_document(self, data: bytes, source: Path) -> None:
        assert isinstance(self._writer, FolderWriter)
        write_document(data, self._writer.target_of(source))

    def check(self) -> None:
        self._writer.check()

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._writer.__exit__(kind, error, trace)


class _OneDocument:
    """A document to the file `target`, or to stdout for None."""

    def __init__(self, target: Path | None) -> None:
        self._target = target

    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None:  # noqa: ARG002
        self.write_document((text + ending).encode("utf-8"), STDIO)

    def write_document(self, data: bytes, source: Path) -> None:  # noqa: ARG002
        if self._target is not None:
            write_document(data, self._target)
            return
        with write_failures("stdout"):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def check(self) -> None:
        if self._target is None and reader_has_gone():
            raise BrokenPipeError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass


def _version(path: Path) -> tuple[int, ...] | None:
    """Device, inode, size and time of the last change of a file, to find out if another program changes it; None if it is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class InPlace:
    """Lines and documents to the files that they were read from: each is replaced when it is complete, and only if it has changed.

    Raises UsageError for stdin, for compressed files, and for a file that is given twice; InputError for a file that another
    program has changed since.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        for path, count in Counter(files).items():
            if path == STDIO or path.suffix in COMPRESSED:
                cause = "" if path == STDIO else ", because it is compressed; give --output FILE instead"
                raise UsageError(f"{name_of(path)}: cannot be changed in place{cause}")
            if count > 1:
                raise UsageError(f"{path}: is given twice")
        self.changed: list[Path] = []
        self._before = {path: _version(path) for path in files}
        self._source: Path | None = None
        self._lines: list[str] = []

    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None:
        """Add a line of a file; lines of one file come together."""
        if source != self._source:
            self._finish()
        self._source = source
        self._lines.append(text + ending)

    def write_document(self, data: bytes, source: Path) -> None:
        """Replace a file by `data`, unless it has these bytes already."""
        self._finish()
        if source.read_bytes() != data:
            if _version(source) != self._before[source]:
                raise InputError(f"{source}: has been changed by another program meanwhile; it is left as it is")
            write_document(data, source)
            self.changed.append(source)

    def check(self) -> None:
        """Do nothing: files have no reader."""

    def _finish(self) -> None:
        source, lines = self._source, self._lines
        self._source, self._lines = None, []
        if source is not None:
            data = "".join(lines).encode("utf-8")
            ends = source.read_bytes()[-1:] == b"\n"
            self.write_document(data if ends else data.removesuffix(b"\n").removesuffix(b"\r"), source)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._finish()
