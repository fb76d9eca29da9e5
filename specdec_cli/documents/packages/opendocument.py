"""OpenDocument files: text (.odt), presentations (.odp) and spreadsheets (.ods). Their paragraphs and headings are texts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.packages.archive import PackageDocument, read_parts
from specdec_cli.documents.segments import Change, Layout, Segment, SegmentBuilder
from specdec_cli.documents.xml_events import XmlEvent, ends_of, escape_xml, read_xml, unescaped
from specdec_cli.errors import InputError
from specdec_cli.text.edits import apply_edits

_MAIN = "content.xml"
_PARTS = re.compile(r"(?:Object \d+/)?content\.xml|styles\.xml")
"""The parts with text: the content, that of charts, and the styles, which have headers and footers."""
_PARAGRAPHS = frozenset(["p", "h"])
_PAIRS = frozenset(["span", "a", "meta", "ruby-base", "page-number", "page-count"])
_ENDS = frozenset(["line-break", "tab"])
"""Elements that end a text, unless lower case follows."""
_SEPARATING = frozenset(["s", "frame", "custom-shape", "line", "rect", "g", "control"])
"""Elements between words: more spaces than one, and what is drawn."""
_WORDS = frozenset(["sequence", "ruby", "placeholder", "database-display", "variable-get", "variable-set", "user-field-get", "expression"])
"""Fields whose content stands for words of the sentence; so do those whose name ends as one of the next."""
_WORD_ENDS = ("-number", "-count", "-ref", "-name", "-input", "date", "time", "title", "subject", "creator", "chapter", "initials")
_LINE_BREAK = re.compile(r"(?:(?<![ \t])[ \t]+)?+[\r\n][ \t\r\n]*+")
_SHOWN = re.compile(r"(<table:table-cell(?=[^<>]*[^/]>)[^<>]*)\soffice:string-value=(?:\"[^\"<>]*\"|'[^'<>]*')")
"""A cell, and what it shows, which its paragraphs say too."""
_REVISION = re.compile(r"\s(?:officeooo:(?:paragraph-)?rsid|fo:language|fo:country)=(?:\"[^\"]*\"|'[^']*')")
_LAYOUT = Layout(escape=escape_xml)
_KEPT = frozenset(["tracked-changes", "scripts", "forms", "automatic-styles"])
"""Elements around paragraphs that are not shown: what tracked changes removed, and programs."""


def read_opendocument(source: Source) -> PackageDocument:
    """Parse an OpenDocument file. Each paragraph, heading or cell with text is a segment; a line break or tab may divide it into several.

    Raises InputError for a file that is none, is damaged, or is too large after decompression.
    """
    match = read_parts(source.data, source.name, lambda name: _PARTS.fullmatch(name) is not None)
    if _MAIN not in match:
        raise InputError(f"{source.name}: not an OpenDocument file; it has no {_MAIN}")
    return PackageDocument(source, {name: _part(source, name, data) for name, data in match.items()}, match)


def _part(source: Source, name: str, data: bytes) -> TextDocument:
    own = Source(data, f"{source.name}, {name}", source.purpose)
    content, encoding, events = read_xml(data, own.name)
    joined = _SHOWN.sub(r"\1", _with_joined_words(content, events))
    if joined != content:
        content, encoding, events = read_xml(joined.encode(encoding), own.name)
    return TextDocument(own, content, _Reader(content, events).texts(0, len(events)), encoding, references=True)


def _with_joined_words(content: str, events: Sequence[XmlEvent]) -> str:
    """Return `content` without the spans whose format is only a revision number (rsid, see `_REVISION`), which office programs put inside
    of words, and with adjacent spans of equal formats as one.
    """
    formats, ends = _formats(content, events), ends_of(events)
    starts = {end: start for start, end in ends.items()}
    spans = {index: _format(events[index], formats) for index in ends if events[index].name == "span"}
    removed = {place for index, found in spans.items() if found == "" for place in (index, ends[index])}
    for index in spans:
        before = starts.get(index - 1)
        if before in spans and index not in removed and spans[before] == spans[index]:
            removed |= {index - 1, index}
    return apply_edits(content, [Change(events[place].begin, events[place].finish, "") for place in sorted(removed)])


def _formats(content: str, events: Sequence[XmlEvent]) -> dict[str, str]:
    """The formats of the automatic styles of spans, as XML text, without revision numbers and languages."""
    formats = dict[str, str]()
    for index, end in ends_of(events).items():
        attributes = events[index].attributes
        if events[index].name == "style" and attributes.get("style:family") == "text":
            inner = _REVISION.sub("", content[events[index].finish : events[end].begin])
            parent = attributes.get("style:parent-style-name", "")
            formats[attributes.get("style:name", "")] = parent + inner.replace("<style:text-properties/>", "")
    return formats


def _format(span: XmlEvent, formats: Mapping[str, str]) -> str:
    """The format of a span; "" for one without any."""
    name = span.attributes.get("text:style-name", "")
    return formats.get(name, f"the style {name}")


class _Reader:
    """Reads the paragraphs of the XML text `content`."""

    def __init__(self, content: str, events: Sequence[XmlEvent]) -> None:
        self._content, self._events = content, events
        self._ends = ends_of(events)
        self._goes_on = self._small_letters()

    def texts(self, first: int, last: int) -> Iterator[Segment]:
        """Yield the segments of the paragraphs among the events `first` to `last`; one inside another, as in a note, comes first."""
        index = first
        while index < last:
            event = self._events[index]
            end = self._ends.get(index, index)
            if event.kind == "start" and event.name in _PARAGRAPHS:
                yield from self._paragraph(index + 1, end)
                index = end
            elif event.name in _KEPT or event.attributes.get("office:value-type", "string") != "string":
                index = end
            index += 1

    def _small_letters(self) -> list[bool]:
        """For each event whether the next letter or digit of its paragraph, in this event or after it, is a small letter."""
        flags, is_small = list[bool](), False
        for event in reversed(self._events):
            if event.kind == "text":
                text = self._content[event.begin : event.finish]
                is_small = next((each.islower() for each in text if each.isalnum()), is_small)
            elif event.name in _PARAGRAPHS:
                is_small = False
            flags.append(is_small)
        return flags[::-1]

    def _paragraph(self, first: int, last: int) -> Iterator[Segment]:
        builder, index = SegmentBuilder(self._content), first
        while index < last:
            event = self._events[index]
            end = index if event.name in _PAIRS else self._ends.get(index, index)
            begin, finish = event.begin, self._events[end].finish
            if event.kind == "text":
                add_xml_text(builder, self._content, begin, finish)
            elif event.name in _PAIRS:
                (builder.open if event.kind == "start" else builder.close)(begin, finish)
            elif event.name in _ENDS and not self._goes_on[end]:
                yield from builder.build_each(_LAYOUT)
                builder = SegmentBuilder(self._content)
            else:
                yield from self.texts(index + 1, end)
                _markup(builder, event.name)(begin, finish)
            index = end + 1
        yield from builder.build_each(_LAYOUT)


def add_xml_text(builder: SegmentBuilder, content: str, begin: int, finish: int) -> None:
    """Add text of XML, with references as their characters, and with line breaks as gaps."""
    position = begin
    for start, end, character in unescaped(content[begin:finish]):
        _add_lines(builder, content, position, begin + start)
        builder.instead(begin + start, begin + end, character)
        position = begin + end
    _add_lines(builder, content, position, finish)


def _add_lines(builder: SegmentBuilder, content: str, begin: int, finish: int) -> None:
    for match in _LINE_BREAK.finditer(content, begin, finish):
        builder.text(begin, match.start())
        builder.gap(*match.span())
        begin = match.end()
    builder.text(begin, finish)


def _markup(builder: SegmentBuilder, name: str) -> Callable[[int, int], None]:
    """What adds an element that is neither text nor a pair."""
    if name in _ENDS | _SEPARATING:
        return builder.line_break
    return builder.single if name in _WORDS or name.endswith(_WORD_ENDS) else builder.void
