"""Reading of documents: their bytes, up to a limit, their text, and the libraries that formats need."""

import codecs
import importlib
import re
from pathlib import Path
from typing import Any

from specdec_cli.errors import InputError, MissingLibraryError, cause_of
from specdec_cli.text.io.lines import STDIO, UNREADABLE, no_such_file, open_binary, raw_stdin, read_some, remedy

MAX_BYTES = 2**26
"""The largest size of a document, after decompression; a document is held in memory completely."""

_ENCODINGS = frozenset(
    [
        *("ascii", "utf-8", "koi8-r", "koi8-u", "koi8-t", "mac-roman", "mac-cyrillic", "tis-620", "ptcp154"),
        *("gb2312", "gbk", "gb18030", "big5", "big5hkscs", "euc_jp", "shift_jis", "iso2022_jp", "euc_kr", "johab"),
        *(f"iso8859-{part}" for part in range(1, 17) if part != 12),
        *(f"cp{page}" for page in (437, 850, 852, 855, 857, 858, 862, 866, 869, 874, 932, 949, 950, *range(1250, 1259))),
    ]
)
"""The encodings of the HTML standard (Encoding, section 4.2), of XML, and of gettext, as Python names them.

UTF-16 has a byte order mark: a file whose declaration can be read without one is in another encoding, whatever it declares.
"""
_LABELS = {
    "windows-874": "cp874",
    "dos-874": "cp874",
    "windows-949": "cp949",
    "windows-31j": "cp932",
    "iso-8859-6-i": "iso8859-6",
    "iso-8859-6-e": "iso8859-6",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
    "cn-big5": "big5",
}
"""Labels of the HTML standard that Python does not know, besides those that only have "x-" before the name."""
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file; `-` is stdin, and .gz and .xz are decompressed.

    Raises InputError for a file that is missing, damaged, or larger than `MAX_BYTES`, before more than that is held.
    """
    if path == STDIO:
        return _read(raw_stdin(), "stdin")
    if not path.exists():
        raise InputError(no_such_file(str(path)))
    try:
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            raise _too_large(str(path))
        with open_binary(path) as stream:
            return _read(stream, str(path))
    except UNREADABLE as error:
        raise InputError(f"{path}: {cause_of(error)}") from error


def decode(data: bytes, name: str, encoding: str = "utf-8") -> str:
    """Return the text of a document. Raises InputError, naming the line, for bytes that are not valid in `encoding`, and for NUL."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = error.start - data.rfind(b"\n", 0, error.start)
        label = "UTF-8" if encoding == "utf-8" else encoding
        hint = f"; {remedy(data)}" if encoding == "utf-8" else ""
        raise InputError(f"{name}, line {line}: not valid {label} ({error.reason} at byte {byte}){hint}") from error
    if "\0" in text:
        raise InputError(f"{line_at(name, text, text.index(chr(0)))}: holds a NUL byte")
    return text


def line_at(name: str, text: str, offset: int) -> str:
    """Return "NAME, line N" for error messages, where N is the line of the character at `offset` in `text`, the text of the file `name`."""
    return f"{name}, line {text.count(chr(10), 0, offset) + 1}"


def marked_encoding(data: bytes) -> str | None:
    """The encoding that a byte order mark at the beginning of `data` stands for, UTF-8 or UTF-16; None without one."""
    return next((encoding for start, encoding in _MARKS if data.startswith(start)), None)


def known_encoding(label: str) -> str | None:
    """The name of the encoding of documents that `label` stands for; None for others, also for those that Python knows besides.

    Text that only Python decodes (as `unicode_escape` and `utf-7` do) could become markup in the output.
    """
    own = re.sub(r"^(?:x-)+", "", label.strip().lower())
    try:
        name = codecs.lookup(_LABELS.get(own, own)).name
    except (LookupError, ValueError):
        return None
    return name if name in _ENCODINGS else None


def _read(stream: Any, name: str) -> bytes:
    chunks, size = [], 0
    while chunk := read_some(stream):
        size += len(chunk)
        if size > MAX_BYTES:
            raise _too_large(name)
        chunks.append(chunk)
    return b"".join(chunks)


def _too_large(name: str) -> InputError:
    return InputError(f"{name}: a document of more than {MAX_BYTES // 2**20} MiB")


def load_library(name: str, file: str) -> Any:
    """Import the module `name` for the document `file`. Raises UsageError, naming the extra, if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibraryError(f"{file}: this format needs {name.partition('.')[0]}", "documents") from error
