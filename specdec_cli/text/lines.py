"""Lines of text files and of stdin, read as they arrive."""

import gzip
import lzma
import select
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from specdec_cli.errors import InputError
from specdec_cli.text.xz import XzReader

STANDARD = Path("-")
LONGEST_LINE = 2**26
"""Bytes of a line, where no other limit is given: no text has such lines, and a line is held in memory as a whole."""
_CHUNK = 2**16
_UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)


class LineTooLong(InputError):
    """A line that is longer than the limit; an endless one, perhaps."""


@dataclass(frozen=True)
class Line:
    """A line of input: its number from 1 within its file, its text, what ended it, and its place for messages.

    `ending` is LF or CR LF, to be written after what becomes of the line; the text holds neither. `file` is None for stdin.
    """

    number: int
    text: str
    ending: str
    place: str
    file: Path | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the column, both from 1, of an offset into `text`."""
        return self.number, offset + 1


def read_lines(paths: Sequence[Path] = (), longest: int = LONGEST_LINE) -> Iterator[Line]:
    """The lines of several files, one file after the other; `-`, or no path at all, is stdin.

    A line from a pipe is there as soon as it is written. .gz and .xz are decompressed. Raises InputError for a file that
    is missing, before anything is read; for bytes that are not UTF-8, a NUL byte or a damaged file, after all lines before;
    LineTooLong for a line of more than `longest` bytes. Decompressing takes bounded memory. The message names file and line.
    """
    for path in paths:
        if path != STANDARD and not path.exists():
            raise InputError(f"{path}: no such file")
    for path in paths or (STANDARD,):
        for line in _lines_of(path, longest):
            if "\0" in line.text:
                raise InputError(f"{line.place}: holds a NUL byte; text must be UTF-8")
            yield line


def read_text_lines(path: Path) -> Iterator[str]:
    """The lines of one file without their ends, NUL bytes and all. Raises InputError as `read_lines` does."""
    return (line.text for line in _lines_of(path, LONGEST_LINE))


def _lines_of(path: Path, longest: int) -> Iterator[Line]:
    if path == STANDARD:
        # Not through the buffer of sys.stdin: a thread that waits in it holds its lock, and the interpreter needs that
        # lock at its exit.
        yield from _decoded(getattr(sys.stdin.buffer, "raw", sys.stdin.buffer), None, longest)
        return
    with open_binary(path) as stream:
        yield from _decoded(stream, path, longest)


def open_binary(path: Path) -> IO[bytes]:
    """Open `path` for reading, unbuffered; .gz and .xz are decompressed. Raises InputError."""
    try:
        if path.suffix == ".gz":
            return cast(IO[bytes], gzip.open(path))
        if path.suffix == ".xz":
            return cast(IO[bytes], XzReader(path))
        return path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _decoded(stream: Any, path: Path | None, longest: int) -> Iterator[Line]:
    """The lines of a stream, decoded and with their places."""
    name = str(path or "stdin")
    lines = _split(stream, longest)
    for number in count(1):
        place = f"{name}, line {number}"
        try:
            body = next(lines, None)
        except LineTooLong as error:
            raise LineTooLong(f"{place}: {error}") from error
        except _UNREADABLE as error:
            raise InputError(f"{name}, after line {number - 1}: {getattr(error, 'strerror', None) or error}") from error
        if body is None:
            return
        text = body.removesuffix(b"\r")
        try:
            yield Line(number, text.decode("utf-8"), "\n" if text == body else "\r\n", place, path)
        except UnicodeDecodeError as error:
            raise InputError(f"{place}: not valid UTF-8 ({error.reason} at byte {error.start + 1})") from error


def _split(stream: Any, longest: int) -> Iterator[bytes]:
    """The lines of a stream without their LF. U+2028, U+0085 and their like do not end a line. Raises LineTooLong."""
    begun = bytearray()
    while chunk := _read_some(stream):
        first, *others = chunk.split(b"\n")
        begun += first
        for following in others:
            yield _checked(begun, longest)
            begun = bytearray(following)
        _checked(begun, longest)
    if begun:
        yield bytes(begun)


def _checked(line: bytearray, longest: int) -> bytes:
    if len(line) > longest:
        raise LineTooLong(f"longer than {longest} bytes")
    return bytes(line)


def _read_some(stream: Any) -> bytes:
    """The bytes that are there already, at least one; none at the end of the stream."""
    while True:
        # A raw stream's read returns what is there; a buffered one's read1 does.
        found: bytes | None = (getattr(stream, "read1", None) or stream.read)(_CHUNK)
        if found is not None:
            return found
        select.select([stream], [], [])  # Another process has made the pipe non-blocking.
