"""gettext message catalogues (PO files): the empty and the fuzzy entries are translated, and marked as fuzzy.

The reader is our own because polib writes files anew: its line breaks and comments differ from those that were read.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.messages import (
    accelerator_at,
    accelerator_sign,
    with_accelerator,
    with_single_ampersands,
    without_sign,
)
from specdec_cli.documents.reading import decode, known_encoding, line_at
from specdec_cli.documents.segments import Change, Segment
from specdec_cli.documents.values import unescaped
from specdec_cli.documents.wrapped import line_groups, text_segment
from specdec_cli.errors import InputError
from specdec_cli.text.segment.layout import FormReader
from specdec_cli.text.view import view_of

_KEYWORD = re.compile(r"\ufeff?[ \t]*(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d{1,3})\])?)[ \t]*(?=\")")
_QUOTED = re.compile(r"[ \t]*\"((?:[^\"\\\r\n]|\\.)*)\"[ \t]*\r?$")
_BYTE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2}))")
_ESCAPE = re.compile(rf"(?P<bytes>(?:{_BYTE.pattern})+)|\\(?P<letter>.)")
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

    @property
    def is_translated(self) -> bool:
        """Whether the entry is not fuzzy, and no string of its translation is empty."""
        return "fuzzy" not in self.flags and all(any(begin < end for begin, end in string.parts) for string in self.translations())


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
    view = view_of(part for each in string.parts for part in unescaped(content, *each, _ESCAPE, _undone) if part[0])
    return Segment(view.text, view.pieces)


def _undone(escape: re.Match[str]) -> str:
    letter = escape["letter"]
    return _of_bytes(escape["bytes"]) if letter is None else _CONTROLS.get(letter, letter)


def _of_bytes(escapes: str) -> str:
    """The text of numeric escapes, each of which is a byte: of UTF-8, or else of ISO 8859-1."""
    data = bytes(int(octal, 8) & 255 if octal else int(hexadecimal, 16) for octal, hexadecimal in _BYTE.findall(escapes))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("iso8859-1")


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
    match = _QUOTED.match(content[keyword.end() if keyword else start : end])
    if match and keyword:
        strings[keyword[1]] = PoString(start, end)
    if match and strings:
        first = keyword.end() if keyword else start
        list(strings.values())[-1].parts.append((first + match.start(1), first + match.end(1)))


def _take_part(string: PoString, content: str, start: int, end: int, place: str) -> None:
    match = _QUOTED.match(content[start:end])
    if match is None:
        raise InputError(f"{place}: a string must be between double quotes")
    string.parts.append((start + match.start(1), start + match.end(1)))
    string.finish = end - content[start:end].endswith("\r")


def _complete(entry: Entry, name: str) -> Iterator[Entry]:
    """Yield the entry if it has strings."""
    if not entry.strings:
        return
    if "msgid" not in entry.strings or not entry.translations():
        raise InputError(f"{name}, line {entry.line}: an entry without {'msgid' if 'msgid' not in entry.strings else 'msgstr'}")
    yield entry


_CHARSET = re.compile(rb"Content-Type:[^\\\n]*charset=([\w.:-]{1,40})", re.IGNORECASE)
_LANGUAGE = re.compile(r"^Language:[ \t]*([A-Za-z]{2,3}(?![A-Za-z])[\w@.-]{0,20})", re.IGNORECASE | re.MULTILINE)
_OPTION = re.compile(r"[ \t]*--?[A-Za-z?][^\n]*?(?:(?<! )  +|(?<!\t)\t+)(?=\S)")
"""An option of a program, before its description."""
_PLURALS = re.compile(r"Plural-Forms:\s*nplurals\s*=\s*(\d+)", re.IGNORECASE)
_MOST_FORMS = 10
"""The most forms of the plural that a catalogue may have; languages have up to six."""


@dataclass(frozen=True)
class PoFile:
    """The text of a PO file and its encoding, the text of its header, and its other entries, without obsolete ones, in order."""

    content: str
    encoding: str
    header: str
    entries: Sequence[Entry]

    @property
    def language(self) -> str:
        """The code of the language of the translations, as the header states it; "" if it does not."""
        stated = _LANGUAGE.search(self.header)
        return stated[1] if stated else ""

    def text(self, string: PoString) -> str:
        """The text of a string of an entry."""
        return decoded(self.content, string).text


def read_po_file(data: bytes, name: str) -> PoFile:
    """Parse a PO or POT file in the encoding that its header declares, or else UTF-8. Raises InputError, naming the line, for a
    malformed file.
    """
    declared = _CHARSET.search(data)
    encoding = (known_encoding(declared[1].decode("ascii")) if declared else None) or "utf-8"
    content = decode(data, name, encoding)
    headers, entries = list[str](), list[Entry]()
    for entry in read_entries(content, name):
        if "msgctxt" not in entry.strings and not decoded(content, entry.strings["msgid"]).text:
            headers.append(decoded(content, entry.translations()[0]).text)
        else:
            entries.append(entry)
    return PoFile(content, encoding, headers[0] if headers else "", entries)


@dataclass(frozen=True)
class Message:
    """The text of a string, and the segments of it, each with its first and last offset in the text.

    `accelerator` is a sign and letter such as "&F" that the only segment is without.
    """

    text: str
    segments: tuple[Segment, ...]
    spans: tuple[tuple[int, int], ...]
    accelerator: str = ""

    def composed(self, outputs: Sequence[str]) -> str:
        """The text with an output in the place of each segment."""
        pieces, position = [], 0
        for segment, (start, end), output in zip(self.segments, self.spans, outputs, strict=True):
            own = self.text[start:end] if output == segment.text else segment.layout.write(output, lambda *_: "")
            if self.accelerator and output != segment.text:
                own = with_accelerator(own, self.accelerator)
            pieces += [self.text[position:start], own]
            position = end
        return "".join([*pieces, self.text[position:]])

    def without_accelerator(self, sign: str) -> "Message":
        """The message with its accelerator, if it has one with this sign, apart from its segment, and a "&&" read as the ampersand that it
        shows.
        """
        place, segments, accelerator = accelerator_at(self.text, sign), self.segments, ""
        if place is not None and len(segments) == 1 and "\n" not in self.text.strip():
            segments, accelerator = (without_sign(segments[0], place - self.spans[0][0]),), self.text[place : place + 2]
        shown = map(with_single_ampersands, segments) if sign == "&" else segments
        return replace(self, segments=tuple(shown), accelerator=accelerator)


class Catalogue(TextDocument):
    """A catalogue; `units` are the entries to translate, with the message of their msgid and, for plurals, of msgid_plural.

    `accelerator_sign` is the sign of its accelerators, "" for none; messages to correct keep them. For correction, the segments are those
    of the translations. Raises what `read_po_file` raises.
    """

    def __init__(self, source: Source) -> None:
        file = read_po_file(source.data, source.name)
        content, header = file.content, file.header
        self.accelerator_sign = ""
        self.units: list[tuple[Entry, list[Message]]] = []
        if source.purpose == "translate":
            self.accelerator_sign = accelerator_sign(header, [file.text(entry.strings["msgid"]) for entry in file.entries])
            for entry in file.entries:
                if source.redo or not entry.is_translated:
                    sources = [entry.strings[keyword] for keyword in ("msgid", "msgid_plural") if keyword in entry.strings]
                    self.units.append((entry, [message(content, string).without_accelerator(self.accelerator_sign) for string in sources]))
            segments = [segment for _, messages in self.units for each in messages for segment in each.segments]
        else:
            segments = [
                one for entry in file.entries for string in entry.translations() for one in message(content, string, escaped).segments
            ]
        super().__init__(source, content, segments, file.encoding)
        self.languages = [("", file.language)] if file.language else []
        plurals = _PLURALS.search(header)
        if plurals and not 0 < int(plurals[1][:9]) <= _MOST_FORMS:
            place = line_at(source.name, content, content.find("Plural-Forms"))
            raise InputError(f"{place}: nplurals={plurals[1][:9]}, expected 1 to {_MOST_FORMS}")
        self._forms = int(plurals[1]) if plurals else 0

    def earlier(self) -> Iterator[tuple[list[tuple[str, str]], list[str]]]:
        """Yield for each text of a fuzzy entry that has a previous source its segments with those of the old translation,
        and its new segments.
        """
        for entry, messages in self.units:
            strings = entry.translations() if "fuzzy" in entry.flags else []
            for keyword, string, new in zip(("msgid", "msgid_plural"), [*strings[:1], *strings[-1:]], messages, strict=False):
                old, translation = (
                    [segment.text for segment in message(self.content, each).without_accelerator(self.accelerator_sign).segments]
                    for each in (entry.previous.get(keyword, PoString(0, 0)), string)
                )
                if old and len(old) == len(translation):
                    yield list(zip(old, translation, strict=True)), [segment.text for segment in new.segments]

    def replacements(self, outputs: Sequence[str]) -> list[Change]:
        """Return the changes of the file: the strings of each translation, and the flag fuzzy."""
        rest = iter(outputs)
        ending = "\r\n" if "\r\n" in self.content else "\n"
        changes: list[Change] = []
        for entry, messages in self.units:
            texts = [each.composed([next(rest) for _ in each.segments]) for each in messages]
            changes += self._filled(entry, texts, ending)
        return changes

    def _filled(self, entry: Entry, texts: Sequence[str], ending: str) -> Iterator[Change]:
        old = entry.translations()
        forms = max(self._forms or len(old), 1) if "msgid_plural" in entry.strings else 1
        if len(texts) == 1:
            strings = [written("msgstr", texts[0], ending)]
        else:
            strings = [written(f"msgstr[{form}]", texts[form > 0 or forms == 1], ending) for form in range(forms)]
        yield Change(old[0].begin, old[-1].finish, ending.join(strings))
        if "fuzzy" in entry.flags:
            return
        if entry.flags_at is None:
            position = entry.body_at or 0
            yield Change(position, position, f"#, fuzzy{ending}")
        else:
            yield Change(entry.flags_at, entry.flags_at, " fuzzy,")


def message(content: str, string: PoString, escape: Callable[[str], str] = str) -> Message:
    """Return the text of a string with its segments: its lines, or several lines of a wrapped paragraph, or the forms of a message.

    `escape` is for changes that are made in the string itself.
    """
    whole = decoded(content, string)
    segments, spans = [], []
    for start, end in _texts(whole.text):
        found = text_segment(whole, start, end)
        if found is not None:
            segments.append(replace(found[0], layout=replace(found[0].layout, escape=escape)))
            spans.append(found[1])
    return Message(whole.text, tuple(segments), tuple(spans))


def _texts(text: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each line, wrapped paragraph or form of a message."""
    position = 0
    for begin, finish in [*FormReader().syntax(text), (len(text), len(text))]:
        for start, end in line_groups(text[position:begin]):
            yield _after_options(text, position + start, position + end), position + end
        position = finish


def _after_options(text: str, start: int, end: int) -> int:
    """The offset of the description in a line of help such as `  -o FILE   Write to FILE`, which lies between `start` and `end`."""
    while match := _OPTION.match(text, start, end):
        start = match.end()
    return start
