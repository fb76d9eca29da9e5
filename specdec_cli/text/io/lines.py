"""Reading of lines from text files and stdin, plain or compressed; each line is yielded as soon as it arrives."""

import codecs
import gzip
import io
import lzma
import select
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from specdec_cli.errors import InputError, cause_of

MAX_MEMORY = 2**27
"""Limit on the bytes of memory for decompression. A file determines the size of its dictionary, up to 4 GB; `xz -9`
needs 65 MB.
"""
_CHUNK = 2**16


class XzReader(io.RawIOBase):
    """A raw stream of the decompressed bytes of the .xz file `path`. Raises OSError if the file cannot be opened.

    Reading raises LZMAError if the file is damaged or needs more than MAX_MEMORY, and EOFError if it is truncated.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._decoder = _decoder()
        self._compressed = b""

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read at least one and at most `len(buffer)` bytes into `buffer`; return the number read, 0 at the end of
        the file.
        """
        view = memoryview(buffer)
        data = b""
        while not data:
            if self._decoder.eof and not self._start_next_stream():
                return 0
            if self._decoder.needs_input and not self._compressed:
                self._compressed = self._file.read(_CHUNK)
                if not self._compressed:
                    raise EOFError("the compressed data end too early")
            data = self._decompress(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the compressed file and the stream."""
        self._file.close()
        super().close()

    def _decompress(self, max_bytes: int) -> bytes:
        compressed, self._compressed = self._compressed, b""
        try:
            return self._decoder.decompress(compressed, max_bytes)
        except lzma.LZMAError as error:
            if "limit" not in str(error):
                raise
            raise lzma.LZMAError(f"needs more than {MAX_MEMORY >> 20} MB of memory to be decompressed") from error

    def _start_next_stream(self) -> bool:
        """Prepare to decompress the next stream of the file; False if there is none. Zero bytes between streams are skipped."""
        rest = self._decoder.unused_data.lstrip(b"\0")
        while not rest:
            chunk = self._file.read(_CHUNK)
            if not chunk:
                return False
            rest = chunk.lstrip(b"\0")
        self._decoder, self._compressed = _decoder(), rest
        return True


def _decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=MAX_MEMORY)


COMPRESSED = (".gz", ".xz")
"""The endings of the names of compressed files."""
STDIO = Path("-")
MAX_LINE_BYTES = 2**26
"""Default limit on the bytes of a line; a line is held in memory completely."""
UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""The errors of reading a file, a compressed one too."""


class LineTooLong(InputError):
    """An error: a line of the input has more bytes than the limit."""


@dataclass(frozen=True)
class Line:
    """A line of input: its number in its file (from 1), its text, its line ending, its location ("file, line N") for messages.

    `ending` is LF or CR LF and is not part of `text`. `file` is None for stdin. `is_code` is None if it is not known whether the line is
    code in a file of a programming language. One that `goes_on` is a part of a line, of which the next one is another part.
    """

    number: int
    text: str
    ending: str
    location: str
    file: Path | None = None
    is_code: bool | None = None
    goes_on: bool = False


def name_of(path: Path) -> str:
    """The name of a file in messages."""
    return "stdin" if path == STDIO else str(path)


def no_such_file(name: str) -> str:
    """The message about a file that does not exist; for what may be a text instead of a name, it says how text is given."""
    hint = "; text is read from standard input, as in: echo 'TEXT' | specdec translate" if " " in name and "/" not in name else ""
    return f"{name}: no such file{hint}"


def check_files(paths: Sequence[Path]) -> None:
    """Raise InputError for a path that does not exist or is a folder. `-` is stdin, which is not checked."""
    for path in paths:
        if path != STDIO and not path.exists():
            raise InputError(f"{path}: is a link whose target does not exist" if path.is_symlink() else no_such_file(str(path)))
        if path != STDIO and path.is_dir():
            raise InputError(f"{path}: is a folder")


def read_lines(paths: Sequence[Path] = (), max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield the lines of several files, one file after the other; `-`, or no path at all, is stdin.

    A line from a pipe is yielded as soon as it is written. .gz and .xz are decompressed, in bounded memory. Raises
    InputError for a missing file and for a folder, before anything is read; for bytes that are not UTF-8, a NUL byte or a
    damaged file, after the lines before it were yielded; and its subclass LineTooLong for a line of more than
    `max_bytes` bytes. The message names file and line.
    """
    check_files(paths)
    for path in paths or (STDIO,):
        yield from _without_nul(_lines_of(path, max_bytes))


def lines_of_stream(stream: Any, path: Path, name: str, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield the lines of a binary stream, as `read_lines` does for a file. The lines have `path` as their file; messages have `name`."""
    return _without_nul(_decoded(stream, path, name, max_bytes))


def read_text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of one file without their ends; NUL bytes are allowed. Raises InputError otherwise as
    `read_lines` does.
    """
    return (line.text for line in _lines_of(path, MAX_LINE_BYTES))


def read_listed(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of a file, without blank lines, lines that begin with # (comments), and a byte
    order mark. Raises InputError as `read_lines` does.
    """
    for number, line in enumerate(read_lines([path]), start=1):
        text = line.text.removeprefix("\ufeff" if number == 1 else "")
        if text.strip() and not text.startswith("#"):
            yield number, text


def _lines_of(path: Path, max_bytes: int) -> Iterator[Line]:
    if path == STDIO:
        yield from _decoded(raw_stdin(), None, "stdin", max_bytes)
        return
    with open_binary(path) as stream:
        yield from _decoded(stream, path, str(path), max_bytes)


def _without_nul(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        if "\0" in line.text:
            raise InputError(f"{line.location}: holds a NUL byte; text must be UTF-8")
        yield line


_OTHER_FILES = {
    b"%PDF-": "a PDF file; extract its text first, e.g. pdftotext FILE",
    b"{\\rtf": "an RTF file; save it as .docx or .odt first",
    b"\xd0\xcf\x11\xe0": "a file of an early office program; save it in a present format first, e.g. .docx",
    b"PK\x03\x04": "a ZIP file; for a document give --format, e.g. --format docx",
    b"\x1f\x8b": "compressed by gzip; give its name the ending .gz, or decompress it first",
    b"\xfd7zXZ\0": "compressed by xz; give its name the ending .xz, or decompress it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; decompress it first",
    b"BZh91AY&SY": "compressed by bzip2; decompress it first",
    b"\x89PNG\r": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x7fELF": "a program",
}
"""Files that are no text, by their first bytes, with what to do."""


def _check_is_text(beginning: bytes, name: str) -> None:
    """Raise an InputError for a file that is no text by its first bytes."""
    for start, kind in _OTHER_FILES.items():
        if beginning.startswith(start):
            raise InputError(f"{name}: {kind}")


def remedy(beginning: bytes) -> str:
    """What to do, in a message, about a text that is not valid UTF-8; `beginning` are its first bytes."""
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "it looks like UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 FILE"
    return "if it is in another encoding, convert it first, e.g. iconv -f WINDOWS-1252 -t UTF-8 FILE"


def raw_stdin() -> Any:
    """The stream of stdin without its buffer: a thread that waits in the buffer holds its lock, and the interpreter needs that lock
    at its exit.
    """
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


def open_binary(path: Path) -> IO[bytes]:
    """Open `path` for unbuffered reading of bytes; .gz and .xz are decompressed. Raises InputError if it cannot be
    opened.
    """
    try:
        if path.suffix == ".gz":
            return cast(IO[bytes], gzip.open(path))
        if path.suffix == ".xz":
            return cast(IO[bytes], XzReader(path))
        return path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"{path}: {cause_of(error)}") from error


def _decoded(stream: Any, path: Path | None, name: str, max_bytes: int) -> Iterator[Line]:
    """The lines of a stream, decoded and with their places."""
    lines = _split(stream, max_bytes)
    for number in count(1):
        location = f"{name}, line {number}"
        try:
            body = next(lines, None)
        except LineTooLong as error:
            raise LineTooLong(f"{location}: {error}") from error
        except UNREADABLE as error:
            if number == 1 and str(error).startswith("Not a gzipped file"):
                raise InputError(f"{name}: not a gzip file") from error
            place = f"{name}, after line {number - 1}" if number > 1 else name
            raise InputError(f"{place}: {cause_of(error)}") from error
        if body is None:
            return
        text = body.removesuffix(b"\r")
        if number == 1:
            _check_is_text(body, name)
        try:
            yield Line(number, text.decode("utf-8"), "\n" if text == body else "\r\n", location, path)
        except UnicodeDecodeError as error:
            cause = f"not valid UTF-8 ({error.reason} at byte {error.start + 1})"
            raise InputError(f"{location}: {cause}; {remedy(text if number == 1 else b'')}") from error


def _split(stream: Any, max_bytes: int) -> Iterator[bytes]:
    """The lines of a stream without their LF. U+2028, U+0085 and their like do not end a line. Raises LineTooLong."""
    begun = bytearray()
    while chunk := read_some(stream):
        first, *others = chunk.split(b"\n")
        begun += first
        for following in others:
            _check_length(begun, max_bytes)
            yield bytes(begun)
            begun = bytearray(following)
        _check_length(begun, max_bytes)
    if begun:
        yield bytes(begun)


def _check_length(line: bytearray, max_bytes: int) -> None:
    if len(line) > max_bytes:
        raise LineTooLong(f"longer than {max_bytes} bytes")


def read_some(stream: Any) -> bytes:
    """Return the bytes of an unbuffered stream that are there already, at least one; none at the end of the stream."""
    while True:
        # A raw stream's read returns what is there; a buffered one's read1 does.
        data: bytes | None = (getattr(stream, "read1", None) or stream.read)(_CHUNK)
        if data is not None:
            return data
        select.select([stream], [], [])  # Another process has made the pipe non-blocking.
