"""The texts of apps: the XML resources of Android (`strings.xml`), and the `.strings` files of Apple. Keys and comments are kept."""

import re
from collections.abc import Callable, Iterator, Sequence

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.reading import decode, line_at, marked_encoding
from specdec_cli.documents.segments import Layout, Segment, SegmentBuilder
from specdec_cli.documents.values import escaped_units, of_escaped_units, unescaped, value_segments
from specdec_cli.documents.wrapped import with_lines
from specdec_cli.documents.xml_events import XmlEvent, end_of, escape_xml, read_xml
from specdec_cli.documents.xml_events import unescaped as references_of
from specdec_cli.errors import InputError

_LISTS = ("string-array", "plurals")
_RESOURCE = re.compile(r"\s*[@?][\w+*][\w+*:./-]*\s*")
"""A reference to another resource, such as @string/name or ?attr/name."""
_PART = re.compile(
    r"(?P<gap>(?<![ \t])[ \t]++[\r\n][ \t\r\n]*|[\r\n][ \t\r\n]*)|(?P<units>(?:\\u[0-9a-fA-F]{4})+)|\\(?P<letter>.)"
    r"|(?P<reference>&[#\w]+;)|(?P<quote>\")"
)
_FIRST_SIGN = re.compile(r"^(?=[@?]\w)")
"""Where a text begins like a reference to another resource."""


def read_android(source: Source) -> TextDocument:
    """Parse a file of Android's resources: its strings, and the items of arrays and plurals, but for those with translatable="false".

    Raises InputError, naming the line, for a file that is not well-formed, or has no <resources>.
    """
    content, encoding, events = read_xml(source.data, source.name, keep_sections=True)
    root = next(event for event in events if event.kind == "start")
    if root.name != "resources":
        place = line_at(source.name, content, root.begin)
        raise InputError(f"{place}: <{root.name}> instead of Android's <resources>; --format lines reads it as lines")
    segments = [segment for value in _android_values(events) for segment in _AndroidValue(content, value).segments]
    return TextDocument(source, content, segments, encoding, references=True)


def _android_values(events: Sequence[XmlEvent]) -> Iterator[Sequence[XmlEvent]]:
    """Yield the parts of each value."""
    first, resource = 0, events[0]
    for index, event in enumerate(events):
        if event.kind == "start" and event.depth == 1:
            resource = event
        if (event.depth, event.name) == (1, "string") or ((event.depth, event.name) == (2, "item") and resource.name in _LISTS):
            if event.kind == "start":
                first = index
            elif resource.attributes.get("translatable") != "false":
                yield events[first + 1 : index]


class _AndroidValue:
    """The `segments` of a value. White space around a line break is a space in it, unless it is between quotation marks; these are read
    as nothing. The escape for a line break ends a text, and so does the border of a CDATA section.
    """

    def __init__(self, content: str, events: Sequence[XmlEvent]) -> None:
        self.segments: list[Segment] = []
        self._content, self._builder, self._is_quoted = content, SegmentBuilder(content), False
        self._escape: Callable[[str], str] = _in_element
        last = len(events) if events and _RESOURCE.fullmatch(content, events[0].begin, events[-1].finish) else -1
        for index, event in enumerate(events):
            if index <= last:
                continue
            if event.kind == "text":
                self._text(event.begin, event.finish)
            elif event.kind == "other" and not content.startswith("<!--", event.begin):
                self._end()
                self._escape = _in_cdata if content.startswith("<![CDATA[", event.begin) else _in_element
            elif event.kind == "other":
                self._builder.void(event.begin, event.finish)
            elif event.kind == "start" and event.name == "g":  # <xliff:g> is around what must not change
                last = end_of(events, index)
                self._builder.single(event.begin, events[last].finish)
            elif event.kind == "start" and events[index + 1].begin == events[index + 1].finish:
                last = index + 1
                self._builder.line_break(event.begin, event.finish)
            else:
                (self._builder.open if event.kind == "start" else self._builder.close)(event.begin, event.finish)
        self._end()

    def _text(self, begin: int, finish: int) -> None:
        builder = self._builder
        for match in _PART.finditer(self._content, begin, finish):
            builder.text(begin, match.start())
            start, begin = match.span()
            if match["letter"] == "n" or (match["gap"] and self._is_quoted):
                self._end()
                builder = self._builder
            elif match["gap"]:
                builder.gap(start, begin)
            elif match["quote"]:
                self._is_quoted = not self._is_quoted
            elif match["units"] or match["letter"]:
                builder.instead(start, begin, of_escaped_units(match[0]) if match["units"] else "\t" if match[0] == "\\t" else match[0][1])
            else:
                characters = references_of(match[0]) if self._escape is _in_element else []
                builder.instead(start, begin, characters[0][2] if characters else match[0])
        builder.text(begin, finish)

    def _end(self) -> None:
        found = self._builder.build(Layout(escape=self._escape))
        self._builder = SegmentBuilder(self._content)
        if found is not None:
            self.segments.append(with_lines(self._content, found))


def _in_cdata(text: str) -> str:
    """`text` with the escapes of Android, which a text between quotation marks may have too."""
    for character, escape in (("\\", "\\\\"), ("'", "\\'"), ('"', '\\"'), ("\t", "\\t"), ("\n", "\\n")):
        text = text.replace(character, escape)
    return _FIRST_SIGN.sub(r"\\", text)


def _in_element(text: str) -> str:
    return escape_xml(_in_cdata(text))


_TOKEN = re.compile(
    r"(?P<space>(?:\s|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)++)"
    r'|"(?P<string>(?:[^"\\]|\\[\s\S])*+)"|(?P<word>[\w.$:-][\w.$:/-]*+)|(?P<equals>=)|(?P<end>;)'
)
_NEXT = {
    "": {"string": "key", "word": "key"},
    "key": {"equals": "=", "end": ""},
    "=": {"string": "value", "word": "value"},
    "value": {"end": ""},
}
"""What a part of an entry is, by what the part before it was."""
_EXPECTED = {"": "a key", "key": "= or ;", "=": "a value between quotation marks", "value": ";"}
_ESCAPE = re.compile(r"(?:\\[uU][0-9a-fA-F]{4})+|\\[0-7]{1,3}|\\[\s\S]")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}


def read_strings(source: Source) -> TextDocument:
    """Parse a `.strings` file, in UTF-8, or UTF-16 with a byte order mark. Raises InputError, naming the line, for a malformed one.

    An output has escapes for characters that are not in ASCII if the file has only such escapes.
    """
    encoding = marked_encoding(source.data) or "utf-8"
    content = decode(source.data, source.name, encoding)
    ascii_only = content.removeprefix("\ufeff").isascii() and "\\U" in content

    def escape(text: str) -> str:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n")
        return "".join(each if each.isascii() or not ascii_only else escaped_units(each, "\\U") for each in text)

    segments = [
        segment
        for begin, finish in _strings_values(content, source.name)
        for segment in value_segments(unescaped(content, begin, finish, _ESCAPE, _undone), Layout(escape=escape))
    ]
    return TextDocument(source, content, segments, encoding)


def _strings_values(content: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each value, between its quotation marks; a value without them is a word that is kept."""
    position, before = len(content) - len(content.removeprefix("\ufeff")), ""
    while position < len(content):
        match = _TOKEN.match(content, position)
        kind = (match.lastgroup if match else None) or ""
        if match is None or (kind != "space" and kind not in _NEXT[before]):
            raise InputError(f"{line_at(name, content, position)}: {_fault(content, position, before)}")
        if kind != "space":
            before = _NEXT[before][kind]
        if before == "value" and kind == "string":
            yield match.span("string")
        position = match.end()
    if before:
        raise InputError(f"{line_at(name, content, len(content.rstrip()))}: {_EXPECTED[before]} is missing at the end")


def _fault(content: str, position: int, before: str) -> str:
    if content.startswith("/*", position):
        return "a comment that is not closed"
    if content.startswith('"', position) and not _TOKEN.match(content, position):
        return "a quotation mark that is not closed"
    return f"expected {_EXPECTED[before]}, not {content[position : position + 30].splitlines()[0]!r}"


def _undone(escape: re.Match[str]) -> str:
    text = escape[0]
    if text[1] in "uU" and len(text) > 2:
        return of_escaped_units(text)
    return chr(int(text[1:], 8)) if text[1].isdigit() and text[1] < "8" else _CONTROLS.get(text[1], text[1])
