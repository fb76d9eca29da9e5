"""ZIP files: the parts that are read, within limits, and the file with other contents of some parts."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO

from specdec_cli.errors import InputError

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
    for info in infos:
        if info.file_size > 2**20 and info.file_size > _MOST_RATIO * max(info.compress_size, 1):
            raise InputError(f"{name}, {info.filename}: compressed to less than a {_MOST_RATIO}th; this is no document")
        if info.flag_bits & 1:
            raise InputError(f"{name}: is encrypted")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> bytes:
    """The bytes of a part; a wrong size in the file's directory does not make it read more than the limit."""
    if info.file_size > MAX_PART_BYTES:
        raise InputError(f"{name}, {info.filename}: more than {MAX_PART_BYTES // 2**20} MiB")
    with archive.open(info) as stream:
        found = stream.read(MAX_PART_BYTES + 1)
    if len(found) > MAX_PART_BYTES:
        raise InputError(f"{name}, {info.filename}: more than {MAX_PART_BYTES // 2**20} MiB")
    return found
