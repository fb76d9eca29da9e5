"""The elements and texts of XML with their offsets, read by expat, without document type definitions.

lxml gives no offsets; with those, all that is not text stays as it is. Expat builds no tree, reads no other file and
no network.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from xml.parsers import expat

from specdec_cli.documents.reading import decode, known_encoding, marked_encoding
from specdec_cli.errors import InputError
from specdec_cli.text.edits import Edit, apply_edits

Kind = Literal["start", "end", "text", "other"]
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
_MOST_DEPTH = 256
"""The deepest nesting of elements."""
_MOST_EVENTS = 4_000_000
_SECTION = "<![CDATA["
_REFERENCE = re.compile(r"&(?:#0*+(\d{1,7})|#[xX]0*+([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class XmlEvent(NamedTuple):
    """A part of an XML file: the characters `begin` to `finish`. An empty element has a start, and an end of no length.

    `name` is the name of the element without its namespace prefix, and `attributes` are those of a start, with their
    prefixes. `depth` is the number of elements around the part.
    """

    kind: Kind
    begin: int
    finish: int
    depth: int
    name: str = ""
    attributes: Mapping[str, str] = {}


def read_xml(data: bytes, name: str, *, keep_sections: bool = False) -> tuple[str, str, list[XmlEvent]]:
    """Return the text of an XML file, its encoding, and its parts, which cover it, in order.

    CDATA sections are returned as the same text with references, unless `keep_sections`. Raises InputError, naming the line, for XML that
    is not well-formed, that declares entities, or that is nested too deeply.
    """
    declared = _DECLARED.search(data, 0, 512)
    encoding = marked_encoding(data) or (known_encoding(declared[1].decode("ascii")) if declared else None) or "utf-8"
    content = decode(data, name, encoding)
    events = _Reader(content, name).events
    if not keep_sections and _SECTION in content:
        content = apply_edits(content, list(_without_sections(content, events)))
        events = _Reader(content, name).events
    return content, encoding, events


def _without_sections(content: str, events: Sequence[XmlEvent]) -> Iterator[Edit]:
    """Yield the changes that make text with references of CDATA sections."""
    is_inside = False
    for event in events:
        if event.kind == "other" and content.startswith("]]>" if is_inside else _SECTION, event.begin):
            is_inside = not is_inside
            yield Edit(event.begin, event.finish, content[event.begin : event.finish], "")
        elif is_inside:
            raw = content[event.begin : event.finish]
            yield Edit(event.begin, event.finish, raw, escape_xml(raw))


def end_of(events: Sequence[XmlEvent], index: int) -> int:
    """For an element whose start is `events[index]`, return the index of its end in `events`."""
    depth = events[index].depth
    return next(place for place in range(index, len(events)) if events[place].kind == "end" and events[place].depth == depth)


def ends_of(events: Sequence[XmlEvent]) -> dict[int, int]:
    """For the index of each start of an element, return that of its end."""
    opened, ends = list[int](), dict[int, int]()
    for index, event in enumerate(events):
        if event.kind == "start":
            opened.append(index)
        elif event.kind == "end":
            ends[opened.pop()] = index
    return ends


def unescaped(text: str) -> list[tuple[int, int, str]]:
    """Return the character references of `text`, which expat has read: first and last offset, and the character."""
    pieces = []
    for match in _REFERENCE.finditer(text):
        decimal, hexadecimal, named = match.groups()
        pieces.append((*match.span(), _NAMED[named] if named else chr(int(decimal) if decimal else int(hexadecimal, 16))))
    return pieces


def escape_xml(text: str) -> str:
    """Return `text` with references for the characters & < and >."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def with_attribute(tag: str, attribute: str) -> str:
    """Return a tag with an attribute more; what ends with no ">" stays as it is."""
    end = "/>" if tag.rstrip().endswith("/>") else ">"
    return f"{tag.rstrip().removesuffix(end).rstrip()} {attribute}{end}" if tag.rstrip().endswith(">") else tag


def start_tag(tag: str) -> str:
    """The tag of an element with content, for that of one that may be empty."""
    return f"{tag[:-2].rstrip()}>" if tag.endswith("/>") else tag


class _Reader:
    """Collects the events of expat; the end of each is the beginning of the next."""

    def __init__(self, content: str, name: str) -> None:
        self._name, self._depth = name, 0
        self._found: list[tuple[Kind, int, int, str, Mapping[str, str]]] = []
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.CommentHandler = parser.ProcessingInstructionHandler = parser.XmlDeclHandler = self._other
        parser.StartCdataSectionHandler, parser.EndCdataSectionHandler = self._other, self._other
        parser.StartDoctypeDeclHandler = self._doctype
        parser.buffer_text = False
        encoded = content.encode("utf-8", "surrogatepass")
        try:
            parser.Parse(encoded, True)
        except MemoryError:
            self._found.clear()  # without memory for the offset of an instruction, CPython 3.11 unwinds a long function for ever
            raise
        except expat.ExpatError as error:
            self._found.clear()
            raise InputError(f"{name}, line {error.lineno}: not well-formed XML ({expat.errors.messages[error.code]})") from error
        offsets = _character_offsets(content, [each[1] for each in self._found])
        ends = [*offsets[1:], len(content)]
        self.events = [
            XmlEvent(kind, begin, max(begin, finish), depth, element, attributes)
            for (kind, _, depth, element, attributes), begin, finish in zip(self._found, offsets, ends, strict=True)
        ]

    def _add(self, kind: Kind, name: str = "", attributes: Mapping[str, str] | None = None) -> None:
        offset = self._parser.CurrentByteIndex
        if len(self._found) == _MOST_EVENTS:
            raise InputError(f"{self._name}, line {self._parser.CurrentLineNumber}: more than {_MOST_EVENTS:,} elements and texts")
        if kind != "text" or not self._found or self._found[-1][0] != "text":
            self._found.append((kind, offset, self._depth, name.rpartition(":")[2], attributes or {}))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._add("start", name, attributes)
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise InputError(f"{self._name}, line {self._parser.CurrentLineNumber}: nested more than {_MOST_DEPTH} elements deep")

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._add("end", name)

    def _text(self, data: str) -> None:  # noqa: ARG002
        self._add("text")

    def _other(self, *_: Any) -> None:
        self._add("other")

    def _doctype(self, *declared: Any) -> None:
        """Refuse declarations of entities inside the file; declarations outside are not read."""
        if declared[3]:
            raise InputError(f"{self._name}, line {self._parser.CurrentLineNumber}: declares its own document type")
        self._other()


def _character_offsets(content: str, offsets: Sequence[int]) -> list[int]:
    """Offsets in characters for `offsets` in bytes of UTF-8, which increase."""
    if content.isascii():
        return list(offsets)
    data, found, place, position = content.encode("utf-8", "surrogatepass"), [], 0, 0
    for offset in offsets:
        position += len(data[place:offset].decode("utf-8", "surrogatepass"))
        place = offset
        found.append(position)
    return found
