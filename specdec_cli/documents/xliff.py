"""XLIFF 1.2 and 2.0: the targets of units without one are filled, with their state."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.reading import line_at
from specdec_cli.documents.segments import Change, Layout, Segment, SegmentBuilder
from specdec_cli.documents.wrapped import with_lines
from specdec_cli.documents.xml_events import XmlEvent, end_of, escape_xml, read_xml, start_tag, unescaped, with_attribute
from specdec_cli.errors import InputError
from specdec_cli.text.edits import apply_edits
from specdec_cli.text.segment.layout import FormReader
from specdec_cli.text.segment.paragraphs import find_wrapped

_UNIT = {"1": "trans-unit", "2": "segment"}
_LANGUAGES = {"1": ("source-language", "target-language"), "2": ("srcLang", "trgLang")}
_UNTRANSLATED = frozenset(("new", "needs-translation", "needs-adaptation", "needs-l10n", "initial"))
_STATES = {"1": {"state": "needs-review-translation", "state-qualifier": "mt-suggestion"}, "2": {"state": "translated"}}
Range = tuple[int, int]
"""First and last index of the events of an element: its start and its end."""


@dataclass
class Unit:
    """A unit of translation: the index of its start, its elements by name, whether it must not be translated, and its segments."""

    start: int
    kept: bool
    elements: dict[str, Range] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)


class Xliff(TextDocument):
    """An XLIFF file; `events` are its tags and texts, and `units` those that are decoded, in order.

    Raises InputError, naming the line, for a file that is not well-formed or no XLIFF 1 or 2.
    """

    def __init__(self, source: Source) -> None:
        content, encoding, self.events = read_xml(source.data, source.name, keep_sections=True)
        root = next(event for event in self.events if event.kind == "start")
        self._version = root.attributes.get("version", "")[:1]
        if root.name != "xliff" or self._version not in _UNIT:
            raise InputError(f"{line_at(source.name, content, root.begin)}: not XLIFF of version 1 or 2")
        self.units: list[Unit] = []
        for whole in _units(self.events, _UNIT[self._version]):
            element = self._element(whole, source)
            for unit, (first, last) in [(whole, element)] if element else self._unfilled(whole, source):
                unit.segments = list(xliff_segments(content, self.events[first + 1 : last]))
                self.units.append(unit)
        super().__init__(source, content, (one for unit in self.units for one in unit.segments), encoding, references=True)
        names = _LANGUAGES[self._version]
        stated = [
            tuple(event.attributes.get(name, "") for name in names)
            for event in self.events
            if names[0] in event.attributes or names[1] in event.attributes
        ]
        self.languages = [("" if source.purpose == "correct" else own, target) for own, target in stated]

    def replacements(self, outputs: Sequence[str]) -> list[Change]:
        """Return the changes of the file: the target of each unit, and its state."""
        rest = iter(outputs)
        made: list[Change] = []
        for unit in self.units:
            first, last = self._text_of(unit)
            begin, finish = self.events[first].finish, self.events[last].begin
            changes = [
                Change(each.start - begin, each.end - begin, each.text)
                for segment, output in ((segment, next(rest)) for segment in unit.segments)
                for each in ([segment.replaced(output, lambda start, end: self.content[start:end])] if output != segment.text else [])
            ]
            made += self._filled(unit, apply_edits(self.content[begin:finish], changes))
        return list(dict.fromkeys(made))  # units of one target change its state together

    def _element(self, unit: Unit, source: Source) -> Range | None:
        """The element that is decoded: for translation the source, for correction the target; None if there is nothing to do."""
        target = unit.elements.get("target")
        marks = self._marks(target).values()
        has_target = target is not None and target[1] - target[0] > 1 and (not marks or not all(map(_is_empty, marks)))
        if "source" not in unit.elements or (unit.kept and source.purpose == "translate"):
            return None
        if source.purpose == "correct":
            return target if has_target else None
        state = self.events[unit.start if self._version == "2" else target[0] if target else unit.start].attributes.get("state", "")
        approved = self.events[unit.start].attributes.get("approved") == "yes"
        return self._text_of(unit) if source.redo or not has_target or (state in _UNTRANSLATED and not approved) else None

    def _unfilled(self, unit: Unit, source: Source) -> Iterator[tuple[Unit, Range]]:
        """Yield a unit for each marked segment of a unit whose mark in the target is empty, beside others that are translated, and the
        range of its source.
        """
        target = unit.elements.get("target")
        if source.purpose == "correct" or unit.kept or target is None or self.events[target[0]].attributes.get("state"):
            return
        own = self._marks(unit.elements.get("seg-source"))
        for name, other in self._marks(target).items():
            if name in own and _is_empty(other) and not _is_empty(own[name]):
                yield Unit(unit.start, unit.kept, {"source": own[name], "target": other, "around": target}), own[name]

    def _marks(self, element: Range | None) -> dict[str, Range]:
        """The `mrk` elements of segments in an element of XLIFF 1.2, by their identifiers (`mid`)."""
        ranges: dict[str, Range] = {}
        for index in range(*element) if element else ():
            event = self.events[index]
            if event.kind == "start" and event.name == "mrk" and event.attributes.get("mtype") == "seg":
                ranges[event.attributes.get("mid", "")] = index, end_of(self.events, index)
        return ranges

    def _text_of(self, unit: Unit) -> Range:
        return unit.elements.get("seg-source") or unit.elements["source"]

    def _filled(self, unit: Unit, text: str) -> Iterator[Change]:
        """Yield the changes that make `text` the target of a unit."""
        target = unit.elements.get("target")
        opening = self.events[(target or unit.elements["source"])[0]]
        named = re.match(r"<((?:[\w.-]+:)?)([\w.-]+)", self.content[opening.begin : opening.finish])
        prefix, own = named.groups() if named else ("", "")
        name = f"{prefix}{own if target else 'target'}"
        states = _STATES[self._version]
        if self._version == "2":
            tag = self.events[unit.start]
            yield Change(tag.begin, tag.finish, with_attributes(self.content[tag.begin : tag.finish], states))
        if target is None:
            place = self._end(self._text_of(unit)[1])
            start = f"<{name}>" if self._version == "2" else with_attributes(f"<{name}>", states)
            yield Change(place, place, f"{self._indent(self.events[self._text_of(unit)[0]])}{start}{text}</{name}>")
            return
        start = start_tag(self.content[opening.begin : opening.finish])
        if "around" in unit.elements:
            tag = self.events[unit.elements["around"][0]]
            yield Change(tag.begin, tag.finish, with_attributes(self.content[tag.begin : tag.finish], states))
        elif self._version == "1":
            start = with_attributes(start, states)
        yield Change(opening.begin, self._end(target[1]), f"{start}{text}</{name}>")

    def _end(self, index: int) -> int:
        """The end of an element in the file. The tag of its end may be followed by white space in the same part."""
        event = self.events[index]
        text = self.content[event.begin : event.finish]
        return event.begin + (text.index(">") + 1 if text.startswith("</") else 0)

    def _indent(self, event: XmlEvent) -> str:
        start = event.begin
        while self.content[start - 1].isspace():
            start -= 1
        return self.content[start : event.begin]


def _is_empty(element: Range) -> bool:
    return element[1] - element[0] == 1


def with_attributes(tag: str, values: dict[str, str]) -> str:
    """Return a start tag with these attributes, in the place of those of the same names."""
    for name, value in values.items():
        replaced, count = re.subn(rf"(\s{re.escape(name)}\s*=\s*)(?:\"[^\"]*\"|'[^']*')", rf'\g<1>"{value}"', tag, count=1)
        tag = replaced if count else with_attribute(tag, f'{name}="{value}"')
    return tag


def _units(events: Sequence[XmlEvent], name: str) -> Iterator[Unit]:
    """Yield the units, each with its source, seg-source and target; those of alternative translations are not part of it."""
    kept: list[bool] = [False]
    unit: Unit | None = None
    depth = 0
    begun: dict[str, int] = {}
    for index, event in enumerate(events):
        if event.kind == "start":
            kept.append({"no": True, "yes": False}.get(event.attributes.get("translate", ""), kept[-1]))
            if event.name == name and unit is None:
                unit, depth, begun = Unit(index, kept[-1]), event.depth, {}
            elif unit is not None and event.depth == depth + 1:
                begun[event.name] = index
        elif event.kind == "end":
            kept.pop()
            if unit is not None and event.depth == depth + 1 and event.name in begun:
                unit.elements.setdefault(event.name, (begun[event.name], index))
            elif unit is not None and event.depth == depth and event.name == name:
                yield unit
                unit = None


_PAIRS = frozenset(("g", "mrk", "pc"))
_WITH_CODE = frozenset(("ph", "it", "bpt", "ept"))
"""Elements whose content is code of the original document."""
_BREAK = re.compile(r"(?:x-)?(?:br|lb|image|img)|xlf:lb|LINE_BREAK\w*|TAG_IMG\w*")
_BREAK_CODE = re.compile(r"<ph\b[^<>]*>&lt;(?:br|img)\b(?:(?!&gt;)[^<>])*(?:&gt;|>)</ph")
"""A line break or image as code of the original document."""
_OPENING, _CLOSING = re.compile(r"bpt|bx|sc|START_\w+"), re.compile(r"ept|ex|ec|CLOSE_\w+")
"""Names of elements that are one end of a pair, and identifiers of such elements in the files of Angular."""
_BLOCK = re.compile(r"(?:START|CLOSE)_(?:PARAGRAPH|HEADING_LEVEL|LIST_ITEM|(?:UN)?ORDERED_LIST|TABLE|BLOCK|TAG_DIV)\w*|HORIZONTAL_RULE\w*")
"""Identifiers of the tags of paragraphs and the like in the files of Angular."""


def xliff_segments(content: str, events: Sequence[XmlEvent]) -> Iterator[Segment]:
    """Yield the segments of the content of a source or target; a line break ends one, unless the lines are wrapped, and so do
    the mark of a segment, the tag of a paragraph, and the syntax of a message with forms.
    """
    text = content[events[0].begin : events[-1].finish] if events else ""
    goes_on = iter(find_wrapped(text.split("\n")))
    builder, escape, forms = SegmentBuilder(content), escape_xml, FormReader()
    index = 0
    while index < len(events):
        event = events[index]
        last = _end_of_code(events, index)
        if last > index:
            _single(builder, content, event)(event.begin, events[last].finish)
        elif event.kind == "text":
            for begin, finish, end in _lines(content, event, forms):
                _add_text(builder, content, begin, finish, escaped=escape is escape_xml)
                wrapped = [next(goes_on, False) for _ in range(content.count("\n", finish, end))]
                if wrapped == [True] and end == finish + 1:
                    builder.gap(finish, end)
                elif finish < end:
                    yield from _built(builder, content, escape)
                    builder = SegmentBuilder(content)
        elif event.kind == "other" or _is_boundary(events, index):
            yield from _built(builder, content, escape)
            builder = SegmentBuilder(content)
            escape = _copied if content.startswith("<![CDATA[", event.begin) else escape_xml
        elif event.name in _PAIRS:
            (builder.open if event.kind == "start" else builder.close)(event.begin, event.finish)
        elif event.begin < event.finish:
            _single(builder, content, event)(event.begin, event.finish)
        index = last + 1
    yield from _built(builder, content, escape)


def _single(builder: SegmentBuilder, content: str, event: XmlEvent) -> Callable[[int, int], None]:
    """What adds an element: as a line break or image, as one end of a pair, or as one that may stand for a word."""
    names = [event.attributes.get(name, "") for name in ("ctype", "subType", "id")]
    if any(map(_BREAK.fullmatch, names)) or _BREAK_CODE.match(content, event.begin):
        return builder.line_break
    own = names[-1] if event.name == "x" else event.name
    if _OPENING.fullmatch(own) or _CLOSING.fullmatch(own):
        return builder.open if _OPENING.fullmatch(own) else builder.close
    return builder.void if own == "it" else builder.single


def _end_of_code(events: Sequence[XmlEvent], index: int) -> int:
    """The index of the end of an element whose content must not change; `index` for any other part."""
    event = events[index]
    protected = event.name == "mrk" and (event.attributes.get("mtype") == "protected" or event.attributes.get("translate") == "no")
    if event.kind != "start" or not (event.name in _WITH_CODE or protected):
        return index
    return end_of(events, index)


def _is_boundary(events: Sequence[XmlEvent], index: int) -> bool:
    """Whether a text ends at this part: it starts or ends an `mrk` element of a segment, or is the tag of a block such as a paragraph."""
    event = events[index]
    if event.name == "x":
        return _BLOCK.fullmatch(event.attributes.get("id", "")) is not None
    if event.name != "mrk":
        return False
    start = event if event.kind == "start" else _start_of(events, index)
    return start.attributes.get("mtype") == "seg"


def _start_of(events: Sequence[XmlEvent], index: int) -> XmlEvent:
    """The start of the element that ends at `index`."""
    return next(events[i] for i in reversed(range(index)) if events[i].kind == "start" and events[i].depth == events[index].depth)


def _lines(content: str, event: XmlEvent, forms: FormReader) -> Iterator[tuple[int, int, int]]:
    """Yield begin and finish of each line or form of a text, and the end of what separates it from the next one."""
    begin = event.begin
    for start, end in [*forms.syntax(content[begin : event.finish]), (event.finish - begin,) * 2]:
        start, end = start + event.begin, end + event.begin
        while (line_end := content.find("\n", begin, start)) >= 0:
            yield begin, line_end, line_end + 1
            begin = line_end + 1
        yield begin, start, end
        begin = end


def _add_text(builder: SegmentBuilder, content: str, begin: int, finish: int, *, escaped: bool) -> None:
    position = begin
    for start, end, character in unescaped(content[begin:finish]) if escaped else ():
        builder.text(position, begin + start)
        if character in "\r\n":
            builder.line_break(begin + start, begin + end)
        else:
            builder.instead(begin + start, begin + end, character)
        position = begin + end
    builder.text(position, finish)


def _copied(text: str) -> str:
    """`text` as it is: in a CDATA section nothing is escaped."""
    return text


def _built(builder: SegmentBuilder, content: str, escape: Callable[[str], str]) -> Iterator[Segment]:
    segment = builder.build(Layout(escape=escape))
    if segment is not None:
        yield with_lines(content, segment)
