"""Documents that are ZIP files: their texts are those of their parts, and only the parts that change are written anew."""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import chain
from typing import Protocol

from specdec_cli.documents.document import FileEdit, Point, Source
from specdec_cli.documents.segments import Segment
from specdec_cli.errors import InputError
from specdec_cli.text.edits import Edit


class PartDocument(Protocol):
    """Protocol: a part of a document, with its segments in order, and what the whole document asks of it."""

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to decode."""

    direction: tuple[str, str]
    """Source and target language of the translation."""

    def translated(self, outputs: Sequence[str]) -> bytes:
        """Return the part with an output in the place of each segment."""

    def corrected(self, edits: Sequence[Sequence[Edit]]) -> bytes:
        """Return the part with the edits of each segment made."""


class PackageDocument:
    """A document that is a ZIP file, whose texts are those of `parts`, by the names of these in the file; `contents` are their bytes.

    A place in it is the number of a text, from 1, and a column: the file has no lines.
    """

    languages: Sequence[tuple[str, str]] = ()

    def __init__(self, source: Source, parts: Mapping[str, PartDocument], contents: Mapping[str, bytes]) -> None:
        self._source, self._parts, self._contents = source, parts, contents
        self.segments = tuple(chain.from_iterable(part.segments for part in parts.values()))
        self._numbers = {id(segment): number for number, segment in enumerate(self.segments, 1)}
        self._direction = ("", "")

    @property
    def direction(self) -> tuple[str, str]:
        """Source and target language of the translation, "" for unknown ones."""
        return self._direction

    @direction.setter
    def direction(self, languages: tuple[str, str]) -> None:
        self._direction = languages
        for part in self._parts.values():
            part.direction = languages

    def translated(self, outputs: Sequence[str]) -> bytes:
        """Return the document with an output in the place of each segment."""
        return self._written(lambda part, first, last: part.translated(outputs[first:last]))

    def corrected(self, edits: Sequence[Sequence[Edit]]) -> bytes:
        """Return the document with the edits of each segment made."""
        return self._written(lambda part, first, last: part.corrected(edits[first:last]))

    def place(self, segment: Segment, offset: int) -> tuple[int, int]:
        """The number of the text, from 1, and the column in it."""
        return self._numbers[id(segment)], offset + 1

    def file_edit(self, segment: Segment, edit: Edit) -> FileEdit:
        """The number of the text of an edit, and its columns there. The file has no lines that could be changed."""
        number = self._numbers[id(segment)]
        return FileEdit(Point(number, segment.text[: edit.start]), Point(number, segment.text[: edit.end]), None)

    def _written(self, write: Callable[[PartDocument, int, int], bytes]) -> bytes:
        """Return the file with the parts that `write` returns for each part and the range of its segments; the file itself if it changes
        none.
        """
        changed, first = dict[str, bytes](), 0
        for name, part in self._parts.items():
            last = first + len(part.segments)
            after = write(part, first, last)
            if after != self._contents[name]:
                changed[name] = after
            first = last
        return with_parts(self._source.data, changed, self._source.name) if changed else self._source.data


def in_order(name: str) -> list[str | tuple[int, str]]:
    """The key by which names of parts are sorted: slide2.xml comes before slide10.xml, whatever the number of digits."""
    pieces = re.split(r"(\d+)", name)
    return [(len(number := piece.lstrip("0")), number) if index % 2 else piece for index, piece in enumerate(pieces)]


MAX_PART_BYTES = 2**26
"""The largest size of a part that is read, after decompression."""
_MOST_TOTAL = 2**29
_MOST_RATIO = 1000
_MOST_PARTS = 10_000


def read_parts(data: bytes, name: str, chosen: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the parts of a ZIP file whose names `chosen` accepts, by name.

    Raises InputError for a file that is no ZIP file or damaged, and, before anything is decompressed, for one that
    claims too many parts, too large ones, or a ratio of compression that no document has.
    """
    with _damage_reported(name), zipfile.ZipFile(BytesIO(data)) as archive:
        infos = archive.infolist()
        _check(infos, name)
        return {info.filename: _read(archive, info, name) for info in infos if chosen(info.filename)}


def with_parts(data: bytes, parts: Mapping[str, bytes], name: str) -> bytes:
    """Return the ZIP file `data` with the contents of some parts replaced by `parts`; names, times and order of all parts are kept.

    Raises InputError for a damaged part.
    """
    written = BytesIO()
    with _damage_reported(name), zipfile.ZipFile(BytesIO(data)) as archive, zipfile.ZipFile(written, "w") as copy:
        copy.comment = archive.comment
        for info in archive.infolist():
            copy.writestr(info, parts[info.filename] if info.filename in parts else archive.read(info))
    return written.getvalue()


@contextmanager
def _damage_reported(name: str) -> Iterator[None]:
    """Raise an InputError that names the file instead of errors of a ZIP file in the block."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise InputError(f"{name}: not readable as a ZIP file ({error})") from error


def _check(infos: list[zipfile.ZipInfo], name: str) -> None:
    total = sum(info.file_size for info in infos)
    if len(infos) > _MOST_PARTS:
        raise InputError(f"{name}: more than {_MOST_PARTS:,} parts")
    if total > _MOST_TOTAL:
        raise InputError(f"{name}: {total / 2**20:,.0f} MiB after decompression; at most {_MOST_TOTAL // 2**20} are read")
    names = set[str]()
    for info in infos:
        if info.filename in names:
            raise InputError(f"{name}: two parts have the name {info.filename}")
        names.add(info.filename)
        if info.file_size > 2**20 and info.file_size > _MOST_RATIO * max(info.compress_size, 1):
            raise InputError(f"{name}, {info.filename}: compressed to less than a {_MOST_RATIO}th; this is no document")
        if info.flag_bits & 1:
            raise InputError(f"{name}: is encrypted")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> bytes:
    """The bytes of a part; a wrong size in the file's directory does not make it read more than the limit."""
    if info.file_size > MAX_PART_BYTES:
        raise InputError(f"{name}, {info.filename}: more than {MAX_PART_BYTES // 2**20} MiB")
    with archive.open(info) as stream:
        data = stream.read(MAX_PART_BYTES + 1)
    if len(data) > MAX_PART_BYTES:
        raise InputError(f"{name}, {info.filename}: more than {MAX_PART_BYTES // 2**20} MiB")
    return data
