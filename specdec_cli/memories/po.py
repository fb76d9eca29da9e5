"""Reading of message catalogues (PO) as translation memories."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from specdec_cli.errors import InputError, MissingLibraryError
from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.io.lines import UNREADABLE, open_binary
from specdec_cli.text.locale.languages import short_code

if TYPE_CHECKING:
    import polib

LARGEST = 2**26
"""Largest size of a catalogue in bytes, as it is held in memory completely."""
_CHARSET = re.compile(rb'"Content-Type:[^"\n]*charset=([\w.:-]+)', re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]{2,3}(?![A-Za-z])")
_OTHER_LINE_ENDS = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]")
_STRING = re.compile(r"(?:msg[a-z_]+(?:\[\d+\])?\s*)?\"(?:[^\"\\]|\\.)*\"\s*$")
_LINE = re.compile(r"\(line (\d+)\)(?:: (.*))?$", re.DOTALL)


def read_po(path: Path, source: str = "", target: str = "") -> Iterator[Pair]:
    """Yield the messages of a catalogue that are translated, neither fuzzy nor obsolete, plural forms too, line by
    line where source and target have as many lines.

    The catalogue is read in the character set that its header declares, else as UTF-8; .gz and .xz are decompressed.
    If its header names the language `source`, the sides are exchanged: its translations are what is translated now. Nothing is yielded
    if it names another language than these two. Raises InputError with the line for a file
    that is not a catalogue, or is larger than LARGEST (64 MiB), and UsageError if polib is not installed.
    """
    try:
        import polib
    except ImportError:
        raise MissingLibraryError("PO files are read by polib", "documents") from None
    try:
        # The line end keeps polib from taking the content for the name of a file.
        content = _content(path)
        _check_strings(path, content)
        catalogue = polib.pofile(content + "\n", check_for_duplicates=False)
    except (OSError, ValueError) as error:
        found = _LINE.search(str(error))
        place, message = (f", line {found[1]}", found[2] or "not the syntax of PO") if found else ("", str(error))
        raise InputError(f"{path}{place}: {' '.join(message.split())}") from None
    language = catalogue.metadata.get("Language", "")
    stated = short_code(language) if _CODE.match(language) else ""
    exchanged = stated != "" and stated == short_code(source) != short_code(target)
    if stated and target and not exchanged and stated != short_code(target):
        return
    for pair in _pairs(catalogue):
        yield Pair(pair.target, pair.source) if exchanged else pair


def _pairs(catalogue: "polib.POFile") -> Iterator[Pair]:
    for entry in catalogue:
        if entry.translated() and not entry.obsolete:
            plural = sorted(entry.msgstr_plural.items())
            yield from _lines(entry.msgid, entry.msgstr or (plural[0][1] if plural else ""))
            if entry.msgid_plural and plural:
                yield from _lines(entry.msgid_plural, plural[min(1, len(plural) - 1)][1])


def _check_strings(path: Path, content: str) -> None:
    """Raise InputError for a line whose string is not between double quotes, which polib would read as empty."""
    for number, line in enumerate(content.split("\n"), 1):
        text = line.strip().lstrip("\ufeff")
        if text.startswith(("msg", '"')) and not _STRING.match(text):
            raise InputError(f"{path}, line {number}: a string must be between double quotes")


def _lines(source: str, target: str) -> Iterator[Pair]:
    sources, targets = source.splitlines(), target.splitlines()
    if len(sources) == len(targets):
        yield from (Pair(*each) for each in zip(sources, targets, strict=True))
    else:
        yield Pair(source.replace("\n", " "), target.replace("\n", " "))


def _content(path: Path) -> str:
    """The text of a catalogue, with no other line ends than those of PO."""
    try:
        with io.BufferedReader(cast(io.RawIOBase, open_binary(path))) as stream:
            content = stream.read(LARGEST + 1)
    except UNREADABLE as error:
        raise InputError(f"{path}: {error}") from error
    if len(content) > LARGEST:
        raise InputError(f"{path}: larger than {LARGEST} bytes")
    declared = _CHARSET.search(content)
    encoding = declared[1].decode("ascii") if declared else "utf-8"
    try:
        text = _decoded(content, encoding)
    except UnicodeError as error:
        line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise InputError(f"{path}, line {line}: not valid {encoding.upper()}") from None
    if "\0" in text:
        raise InputError(f"{path}, line {text.count(chr(10), 0, text.index(chr(0))) + 1}: holds a NUL byte")
    return _OTHER_LINE_ENDS.sub(" ", text)


def _decoded(content: bytes, encoding: str) -> str:
    """The text in a character set, or in UTF-8 if that is unknown: a template has the word CHARSET."""
    try:
        return content.decode(encoding)
    except LookupError:
        return content.decode("utf-8")
