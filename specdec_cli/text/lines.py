"""Lines in and out: read as they arrive, written as they are finished."""

import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from specdec_cli.errors import InputError, UsageError

STANDARD = Path("-")
_UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)


@dataclass(frozen=True)
class Line:
    """A line of input: its number from 1 over all inputs, its text, what ended it, and its place for messages.

    `ending` is LF or CR LF, to be written after what becomes of the line; the text holds neither.
    """

    number: int
    text: str
    ending: str
    place: str


def read_lines(paths: Sequence[Path] = ()) -> Iterator[Line]:
    """The lines of several files as if they were one; `-`, or no path at all, is stdin.

    Nothing is read ahead, so a line from a pipe is there as soon as it is written. .gz and .xz are decompressed.
    Raises InputError for a file that is missing, at once; for bytes that are not UTF-8, a NUL byte or a
    damaged file, after all lines before; the message names file and line.
    """
    for path in paths:
        if path != STANDARD and not path.exists():
            raise InputError(f"{path}: no such file")
    number = count(1)
    for path in paths or (STANDARD,):
        for line in _lines_of(path):
            if "\0" in line.text:
                raise InputError(f"{line.place}: holds a NUL byte; text must be UTF-8")
            yield Line(next(number), line.text, line.ending, line.place)


def read_text_lines(path: Path) -> Iterator[str]:
    """The lines of one file without their ends, NUL bytes and all. Raises InputError as `read_lines` does."""
    return (line.text for line in _lines_of(path))


def _lines_of(path: Path) -> Iterator[Line]:
    if path == STANDARD:
        yield from _decoded(sys.stdin.buffer, "stdin")
        return
    with open_binary(path) as stream:
        yield from _decoded(stream, str(path))


def open_binary(path: Path) -> IO[bytes]:
    """Open `path` for reading; .gz and .xz are decompressed. Raises InputError."""
    try:
        if path.suffix == ".gz":
            return cast(IO[bytes], gzip.open(path))
        if path.suffix == ".xz":
            return lzma.open(path)
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _decoded(stream: IO[bytes], name: str) -> Iterator[Line]:
    """Split on LF only: U+2028, U+0085 and their like stand inside lines."""
    for number in count(1):
        try:
            raw = stream.readline()
        except _UNREADABLE as error:
            raise InputError(f"{name}, after line {number - 1}: {error}") from error
        if not raw:
            return
        place = f"{name}, line {number}"
        body = raw.removesuffix(b"\n")
        text = body.removesuffix(b"\r")
        try:
            yield Line(number, text.decode("utf-8"), "\n" if text == body else "\r\n", place)
        except UnicodeDecodeError as error:
            raise InputError(f"{place}: not valid UTF-8 ({error.reason} at byte {error.start + 1})") from error


class LineWriter:
    """Writes finished lines to a file, or to stdout for None or `-`, each flushed.

    A file is written in place, line by line, and not moved there at the end: what is finished stays, whatever
    happens to the rest, and can be watched. Raises UsageError if the file cannot be opened, or is one of
    `inputs`, which opening would empty; InputError if a line cannot be written (a full disk), except
    BrokenPipeError for a closed pipe.
    """

    def __init__(self, path: Path | None = None, inputs: Sequence[Path] = ()) -> None:
        self._file: IO[bytes] | None = None
        self._name = "stdout"
        if path is None or path == STANDARD:
            return
        if path.exists() and any(other.exists() and path.samefile(other) for other in inputs):
            raise UsageError(f"{path}: is both input and output")
        self._name = str(path)
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error

    def write(self, text: str, ending: str = "\n") -> None:
        """Write one line; an LF inside `text` becomes a space, so that it stays one."""
        stream = self._file or sys.stdout.buffer
        with self._failures():
            stream.write((text.replace("\n", " ") + ending).encode("utf-8"))
            stream.flush()

    def close(self) -> None:
        """Close the file; stdout stays open."""
        if self._file is not None:
            with self._failures():
                self._file.close()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InputError(f"{self._name}: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
