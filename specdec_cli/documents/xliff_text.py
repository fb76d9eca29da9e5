"""The text of sources and targets in XLIFF, with inline elements."""

import re
from collections.abc import Callable, Iterator, Sequence

from specdec_cli.documents.builder import SegmentBuilder
from specdec_cli.documents.icu import FormReader
from specdec_cli.documents.segments import Layout, Segment
from specdec_cli.documents.wrapped import with_lines
from specdec_cli.documents.xml_events import XmlEvent, end_of, escape_xml, unescaped
from specdec_cli.text.segment.paragraphs import find_wrapped

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
        while (place := content.find("\n", begin, start)) >= 0:
            yield begin, place, place + 1
            begin = place + 1
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
    found = builder.build(Layout(escape=escape))
    if found is not None:
        yield with_lines(content, found)
