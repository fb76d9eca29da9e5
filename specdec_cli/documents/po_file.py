"""The entries of gettext message catalogues (PO files), with the place of each string in the file.

The reader is our own because polib writes files anew: its line breaks and comments differ from those that were read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from specdec_cli.documents.segments import Piece, Segment
from specdec_cli.errors import InputError

_KEYWORD = re.compile(r"[ \t]*(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d{1,3})\])?)[ \t]*(?=\")")
_QUOTED = re.compile(r"[ \t]*\"((?:[^\"\\\r\n]|\\.)*)\"[ \t]*\r?$")
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|(.))")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPED = {'"': '\\"', "\\": "\\\\"} | {control: f"\\{letter}" for letter, control in _CONTROLS.items()}
_WIDTH = 77
"""The largest number of characters between the quotes of a line, as gettext writes it."""


@dataclass
class PoString:
    """A string of an entry: `begin` and `finish` of its lines, without the last line's end, and of the text between its quotes."""

    begin: int
    finish: int
    parts: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Entry:
    """An entry: its strings by keyword (such as "msgid" or "msgstr[0]"), its flags, and where flags and strings begin.

    `previous` are the strings of the source that the translation was made for, which msgmerge writes as comments "#| msgid". `flags_at`
    is the offset of the flags' text, after "#,"; None if the entry has no flags.
    """

    line: int
    strings: dict[str, PoString] = field(default_factory=dict)
    previous: dict[str, PoString] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    flags_at: int | None = None
    body_at: int | None = None

    def translations(self) -> list[PoString]:
        """The strings of the translation, in order: one, or one for each plural form."""
        return [string for keyword, string in self.strings.items() if keyword.startswith("msgstr")]


def read_entries(content: str, name: str) -> list[Entry]:
    """Return the entries of a catalogue, without obsolete ones, in order.

    Raises InputError, naming the line, for a line that is no part of an entry, a repeated string, and an entry
    without msgid or msgstr.
    """
    entries: list[Entry] = []
    entry = Entry(1)
    string: PoString | None = None
    position = 0
    for number, line in enumerate(content.split("\n"), 1):
        start, position = position, position + len(line) + 1
        text = line.strip().lstrip("\ufeff")
        keyword = _KEYWORD.match(content, start) if text[:1] == "m" else None
        begins = text[:1] == "#" or (keyword is not None and keyword[1] in ("msgctxt", "msgid"))
        if not text or (begins and any(each.startswith("msgstr") for each in entry.strings)):
            entries += _complete(entry, name)
            entry, string = Entry(number), None
        if text.startswith("#"):
            _take_comment(entry, content, text, start + line.index("#"))
        elif keyword is not None:
            if keyword[1] in entry.strings:
                raise InputError(f"{name}, line {number}: a second {keyword[1]} in one entry")
            entry.line = number if not entry.strings else entry.line
            entry.body_at = start if entry.body_at is None else entry.body_at
            string = entry.strings[keyword[1]] = PoString(start, start)
            _take_part(string, content, keyword.end(), start + len(line), f"{name}, line {number}")
        elif text.startswith('"') and string is not None:
            _take_part(string, content, start, start + len(line), f"{name}, line {number}")
        elif text:
            raise InputError(f"{name}, line {number}: not a line of a PO file: {text[:40]!r}")
    return entries + list(_complete(entry, name))


def decoded(content: str, string: PoString) -> Segment:
    """Return the text of a string without escapes, as one segment, which may have line breaks."""
    pieces: list[Piece] = []
    texts: list[str] = []
    length = 0

    def add(begin: int, finish: int, text: str) -> None:
        nonlocal length
        if text:
            pieces.append(Piece(length, length + len(text), begin, finish))
            texts.append(text)
            length += len(text)

    for begin, finish in string.parts:
        position = begin
        for found in _ESCAPE.finditer(content, begin, finish):
            add(position, found.start(), content[position : found.start()])
            octal, hexadecimal, letter = found.groups()
            number = int(octal, 8) if octal else int(hexadecimal, 16) if hexadecimal else None
            add(*found.span(), _CONTROLS.get(letter, letter) if number is None else chr(number))
            position = found.end()
        add(position, finish, content[position:finish])
    return Segment("".join(texts), tuple(pieces))


def escaped(text: str) -> str:
    """Return `text` with the escapes that a string needs."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def written(keyword: str, text: str, ending: str) -> str:
    """Return the lines of a string, without the last line's end: one line if `text` fits, else as gettext breaks it."""
    single = escaped(text)
    if len(keyword) + len(single) + 1 <= _WIDTH and "\n" not in text[:-1]:
        return f'{keyword} "{single}"'
    lines = [broken for line in re.findall(r"[^\n]*\n|[^\n]+", text) for broken in _broken(line)]
    return ending.join([f'{keyword} ""', *(f'"{line}"' for line in lines)])


def _broken(line: str) -> Iterator[str]:
    """Yield a line of a string, with its escapes, in pieces that end with a space and fit the width."""
    piece = ""
    for word in re.findall(r"\S*\s*", line):
        if piece and len(piece) + len(escaped(word)) > _WIDTH:
            yield piece
            piece = ""
        piece += escaped(word)
    if piece:
        yield piece


def _take_comment(entry: Entry, content: str, text: str, start: int) -> None:
    if text.startswith("#,"):
        entry.flags |= {flag.strip() for flag in text[2:].split(",")}
        entry.flags_at = start + 2
    elif text.startswith("#|"):
        entry.body_at = start if entry.body_at is None else entry.body_at
        _take_previous(entry.previous, content, start + 2, start + len(text))


def _take_previous(strings: dict[str, PoString], content: str, start: int, end: int) -> None:
    """Take a line of a previous source; other comments of this kind have no meaning."""
    keyword = _KEYWORD.match(content, start)
    found = _QUOTED.match(content[keyword.end() if keyword else start : end])
    if found and keyword:
        strings[keyword[1]] = PoString(start, end)
    if found and strings:
        first = keyword.end() if keyword else start
        list(strings.values())[-1].parts.append((first + found.start(1), first + found.end(1)))


def _take_part(string: PoString, content: str, start: int, end: int, place: str) -> None:
    found = _QUOTED.match(content[start:end])
    if found is None:
        raise InputError(f"{place}: a string must be between double quotes")
    string.parts.append((start + found.start(1), start + found.end(1)))
    string.finish = end - content[start:end].endswith("\r")


def _complete(entry: Entry, name: str) -> Iterator[Entry]:
    """Yield the entry if it has strings."""
    if not entry.strings:
        return
    if "msgid" not in entry.strings or not entry.translations():
        raise InputError(f"{name}, line {entry.line}: an entry without {'msgid' if 'msgid' not in entry.strings else 'msgstr'}")
    yield entry
