"""HTML: the text between block tags, the attributes alt, title, placeholder and aria-label, labels of buttons, and descriptions.

html.parser reads HTML as it is found, errors included. It keeps no offsets in a tree; so a stream of tags is read, and all else is kept.
"""

import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from html.parser import HTMLParser
from typing import Literal, NamedTuple

from specdec_cli.documents.document import Document, Source, TextDocument, line_starts
from specdec_cli.documents.reading import decode, known_encoding, marked_encoding
from specdec_cli.documents.segments import Layout, Segment, SegmentBuilder
from specdec_cli.documents.wrapped import with_lines
from specdec_cli.language_codes import short_code

Kind = Literal["start", "end", "text", "reference", "other"]
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"])
"""The elements without content and end tag."""
_WHOLE = frozenset(["html", "body"])
"""The elements around a page, whose language is the page's, and is not always stated rightly."""
_LONG_NUMBER = re.compile(r"&#\d{4000,}")
"""A character reference with so many digits that int() may raise ValueError."""

_TAG_START = re.compile(r"</?[A-Za-z]")


class Event(NamedTuple):
    """A part of HTML: the characters `begin` to `finish`; `name` is that of the tag, in lower case.

    `kept` is true for a tag whose attributes and content must not be translated (translate="no", the class notranslate, or the mark of
    another language).
    """

    kind: Kind
    begin: int
    finish: int
    name: str = ""
    kept: bool = False


def html_events(text: str, language: str = "") -> Iterator[Event]:
    """Yield the parts of `text`, which is in a `language`, or in one that is not known. They cover it, in order."""
    readable = _LONG_NUMBER.sub(lambda found: "&".ljust(len(found.group()), "x"), text)
    unclosed = _TAG_START.search(readable, readable.rfind(">") + 1)  # such a tag is markup up to the end
    parser = _Parser(readable[: unclosed.start()] if unclosed else readable, short_code(language))
    parser.read()
    if unclosed:
        parser.found.append(Event("other", unclosed.start(), len(text)))
    ends = [*(event.begin for event in parser.found[1:]), len(text)]
    for event, end in zip(parser.found, ends, strict=False):
        yield event._replace(finish=end)


def unescape(text: str) -> str:
    """Return `text` with its character references as characters, as html.unescape does, with numbers of any length."""
    return html.unescape(_LONG_NUMBER.sub("&#1114112", text))  # also beyond the last character


def is_space(reference: str) -> bool:
    """Whether a character reference, such as &nbsp;, stands for a space. It is kept as it is, as a mark between two words."""
    return unescape(reference).isspace()


class _UnclosedError(Exception):
    """All that follows is in a comment or declaration without an end."""


class _Parser(HTMLParser):
    """Collects the parts; their ends are set later."""

    def __init__(self, text: str, language: str) -> None:
        super().__init__(convert_charrefs=False)
        self._text, self._starts, self._language = text, line_starts(text), language
        self.found: list[Event] = []

    def read(self) -> None:
        """Read the text to its end."""
        with suppress(_UnclosedError):
            self.feed(self._text)
            self.close()

    def _add(self, kind: Kind, name: str = "", kept: bool = False) -> None:
        line, column = self.getpos()
        begin = self._starts[line - 1] + column
        is_text = kind == "text"
        if is_text and self._text.startswith("<!", begin):
            kind = "other"
        if not (self.found and kind == "text" and self.found[-1].kind == "text"):
            self.found.append(Event(kind, begin, begin, name, kept))
        if kind == "other" and is_text and (self._text.startswith("<!--", begin) or self._text.find(">", begin) < 0):
            raise _UnclosedError

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("start", tag, _is_kept(attrs) or (tag not in _WHOLE and self._is_foreign(dict(attrs))))

    def _is_foreign(self, attributes: Mapping[str, str | None]) -> bool:
        """Whether the `lang` attribute of a tag names another language than the document's."""
        stated = short_code(attributes.get("lang") or attributes.get("xml:lang") or "")
        return stated != "" and self._language not in ("", stated)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("start", tag, tag in VOID and _is_kept(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._add("end", tag)

    def handle_data(self, data: str) -> None:  # noqa: ARG002
        self._add("text")

    def handle_entityref(self, name: str) -> None:
        self._add("reference", name)

    def handle_charref(self, name: str) -> None:
        self._add("reference", f"#{name}")

    def handle_comment(self, data: str) -> None:  # noqa: ARG002
        self._add("other")

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002
        self._add("other")

    def handle_pi(self, data: str) -> None:  # noqa: ARG002
        self._add("other")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Read <![..> as a comment if it is no section that html.parser knows, as the HTML standard says."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i, report)

    def unknown_decl(self, data: str) -> None:  # noqa: ARG002
        self._add("other")


def _is_kept(attributes: list[tuple[str, str | None]]) -> bool:
    values = dict(attributes)
    return (values.get("translate") or "").lower() == "no" or "notranslate" in re.split(r"\s+", values.get("class") or "")


_INLINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "label",
        "mark",
        "nobr",
        "q",
        "ruby",
        "s",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "wbr",
        "code",
        "kbd",
        "samp",
        "var",
        "input",
    ]
)
_KEPT_INLINE = frozenset(["code", "kbd", "samp", "var", "tt"])
_KEPT = frozenset(
    ["script", "style", "pre", "textarea", "template", "svg", "math", "noscript", "iframe", "object", "canvas", "audio", "video"]
)
_ATTRIBUTE = re.compile(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=`]+)))?")
_TEXT_ATTRIBUTES = frozenset(["alt", "title", "placeholder", "aria-label"])
_DESCRIPTIONS = frozenset(
    ["description", *(f"{site}:{name}" for site in ("og", "twitter") for name in ("title", "description", "image:alt"))]
)
_SHOWN_VALUES = {
    ("input", "value"): (("type",), frozenset(["submit", "button", "reset"])),
    ("meta", "content"): (("name", "property"), _DESCRIPTIONS),
    ("option", "label"): ((), frozenset()),
    ("optgroup", "label"): ((), frozenset()),
}
"""Attributes that are text in one element only, with what else its tag must have: one of these attributes with one of these values."""
_ENDS_OF_VALUES = {2: re.compile('"'), 3: re.compile("'"), 4: re.compile(r"[\s\"'<>=`]")}
"""What values in double, in single and without quotation marks cannot have."""
_LONGEST_RAISED = 16
"""The largest number of parts of a superscript that is read as a mark."""
_SHOWN = ("Pd", "Pi", "Pf", "Po", "Ps", "Sc")
"""Categories of punctuation and currency signs."""
_SOFT_HYPHEN = "\u00ad"
_WINDOWS_1252 = frozenset(["ascii", "cp1252", "iso8859-1", "iso88591", "x-cp1252"])
"""Names of encodings that the HTML standard (Encoding, section 4.2) reads as windows-1252."""
_NOT_WINDOWS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*+(?:[\"']\s*+)?([\w.:-]{1,40})", re.IGNORECASE)
_ROOT = re.compile(r"<html\s[^<>]{1,10000}>", re.IGNORECASE)
_LANGUAGE = re.compile(r"\s(?:xml:)?lang\s*=\s*[\"']?([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)(?=[\"'\s>])", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_REFERENCE = re.compile(r"&#?\w{1,32};")
_REFERENCE_END = re.compile(r"#?\w{1,32};")
"""The part of a character reference after its ampersand, such as amp; or #160;."""
_MARKUP = re.compile(r"&(?!#?\w{1,32};)|<(?=[A-Za-z/!?])")


def read_html(source: Source) -> Document:
    """Parse an HTML file in the encoding that it declares, or else UTF-8. Raises InputError for bytes that are not valid in it."""
    encoding = marked_encoding(source.data) or _declared_encoding(source.data) or "utf-8"
    content = decode(source.data, source.name, encoding)
    segments = html_segments(content, 0, len(content), source.language)
    root = _ROOT.search(content)
    stated = (each.span(1) for each in _LANGUAGE.finditer(content, *root.span())) if root else ()
    return TextDocument(source, content, segments, encoding, references=True, stated=stated)


def _declared_encoding(data: bytes) -> str | None:
    """The encoding that a page declares, as the HTML standard reads it; ISO 8859-1 for bytes that windows-1252 lacks."""
    declared = _CHARSET.search(data, 0, 4096)
    label = declared[1].decode("ascii").lower() if declared else ""
    encoding = known_encoding(label)
    if (encoding or label) in _WINDOWS_1252:
        return "iso8859-1" if _NOT_WINDOWS.search(data) else "cp1252"
    return encoding


def html_segments(content: str, begin: int, finish: int, language: str = "") -> Iterator[Segment]:
    """Yield the segments of a document's HTML between the offsets `begin` and `finish`, except elements in another `language`."""
    found = html_events(content[begin:finish], language)
    events = [each._replace(begin=each.begin + begin, finish=each.finish + begin) for each in found]
    group: list[Event] = []
    ends = _end_tags(events)
    index = 0
    while index < len(events):
        event = events[index]
        last = _kept_until(events, index, ends)
        if event.kind == "start" and not event.kept:
            yield from _attributes(content, event)
        raised = _raised_until(content, events, index)
        if raised > last:
            yield from (found for each in events[index + 1 : raised] if each.kind == "start" for found in _attributes(content, each))
            last = raised
        if last > index and (event.name in _KEPT_INLINE or event.name in _INLINE):
            group.append(Event("other", event.begin, events[last].finish, "" if raised == index else "sup"))
        elif last > index or (event.kind in ("start", "end") and event.name not in _INLINE) or _is_declaration(content, event):
            yield from _segment(content, group)
            group = []
        else:
            group.append(event)
        index = last + 1
    yield from _segment(content, group)


def _end_tags(events: Sequence[Event]) -> dict[int, int]:
    """For the index of each start tag that of its end tag; those without one are missing."""
    opened: dict[str, list[int]] = defaultdict(list)
    ends: dict[int, int] = {}
    for index, event in enumerate(events):
        if event.kind == "start" and event.name not in VOID:
            opened[event.name].append(index)
        elif event.kind == "end" and opened[event.name]:
            ends[opened[event.name].pop()] = index
    return ends


def _kept_until(events: Sequence[Event], index: int, ends: Mapping[int, int]) -> int:
    """The index of the end tag of an element whose content is kept; `index` for any other part."""
    event = events[index]
    if event.kind != "start" or event.name in VOID or not (event.kept or event.name in _KEPT or event.name in _KEPT_INLINE):
        return index
    return ends.get(index, index if event.name in _KEPT_INLINE else len(events) - 1)


def _raised_until(content: str, events: Sequence[Event], index: int) -> int:
    """The index of the end tag of a superscript without letters, such as the mark of a note, or of the reference to a note that is no
    superscript; `index` for any other part.
    """
    name = events[index].name
    if events[index].kind != "start" or not (name == "sup" or _may_refer(content, events[index])):
        return index
    has_text = name == "sup"
    for place in range(index + 1, min(index + _LONGEST_RAISED, len(events))):
        event = events[place]
        if event.kind in ("start", "end"):
            if event.name == name:
                return place if event.kind == "end" and has_text else index
            if event.name not in _INLINE:
                break
        elif event.kind != "other" and any(map(str.isalpha, unescape(content[event.begin : event.finish]))):
            break
        has_text = has_text or event.kind != "other"
    return index


def _may_refer(content: str, event: Event) -> bool:
    """Whether a link or span may be the reference to a note: directly behind a word or mark, and no part of a number or bracket."""
    before, sign = content[max(event.begin - 2, 0) : event.begin], content[event.finish : event.finish + 1]
    if event.name not in ("a", "span") or not before:
        return False
    if sign in tuple("[*\u2020\u2021\u00a7"):
        return True
    if before[-1].isalpha() or (event.name == "a" and before[-1].isdigit()):
        return True
    return before[-1] in ".,;:!?)\"'\u2019\u201d\u00bb" and (event.name == "a" or not before[0].isdigit())


def _is_declaration(content: str, event: Event) -> bool:
    return event.kind == "other" and not content.startswith("<!--", event.begin)


def _segment(content: str, events: Sequence[Event]) -> Iterator[Segment]:
    """Yield the segment of the text and inline tags between two block tags, if there is text."""
    builder = SegmentBuilder(content)
    for event in events:
        if event.kind == "text":
            _add_text(builder, content, event.begin, event.finish)
        elif event.kind == "reference":
            _add_reference(builder, content, event.begin, event.finish)
        elif event.kind == "end":
            builder.close(event.begin, event.finish)
        elif event.kind == "start" and event.name not in VOID:
            builder.open(event.begin, event.finish)
        elif event.kind == "start":
            (builder.void if event.name == "wbr" else builder.line_break)(event.begin, event.finish)
        elif event.name == "sup" or content.startswith("<!--", event.begin):
            builder.void(event.begin, event.finish)
        else:
            builder.single(event.begin, event.finish)
    for segment in builder.build_each(Layout(escape=escape_text)):
        yield with_lines(content, segment)


def add_escaped(builder: SegmentBuilder, content: str, begin: int, finish: int) -> None:
    """Add text that may have character references, with its line breaks as gaps."""
    for match in _REFERENCE.finditer(content, begin, finish):
        _add_text(builder, content, begin, match.start())
        _add_reference(builder, content, *match.span())
        begin = match.end()
    _add_text(builder, content, begin, finish)


def _add_text(builder: SegmentBuilder, content: str, begin: int, finish: int) -> None:
    """Add text, with its line breaks as gaps."""
    for match in _SPACE.finditer(content, begin, finish):
        if "\n" in match.group():
            builder.text(begin, match.start())
            builder.gap(*match.span())
            begin = match.end()
    builder.text(begin, finish)


def _add_reference(builder: SegmentBuilder, content: str, begin: int, finish: int) -> None:
    """Add a character reference: a space as what separates words, a letter, punctuation, a currency or a soft hyphen as its character,
    and others as they are. So is an ampersand that would become the beginning of another reference.
    """
    character = unescape(content[begin:finish])
    is_shown = len(character) == 1 and (character.isalpha() or unicodedata.category(character) in _SHOWN)
    is_shown = is_shown and not (character == "&" and _REFERENCE_END.match(content, finish))
    if is_space(content[begin:finish]):
        builder.line_break(begin, finish)
    elif is_shown or character == _SOFT_HYPHEN:
        builder.instead(begin, finish, character)
    else:
        builder.text(begin, finish)


def _attributes(content: str, event: Event) -> Iterator[Segment]:
    """Yield the segments of the attributes of a tag that are text."""
    found = [(each, each.lastindex or 1) for each in _ATTRIBUTE.finditer(content, event.begin + 1, event.finish)]
    values = {each[1].lower(): each[group].lower() for each, group in reversed(found) if group > 1}
    for each, group in found:
        if group > 1 and _is_text(event.name, each[1].lower(), values):
            builder = SegmentBuilder(content)
            add_escaped(builder, content, *each.span(group))
            segment = builder.build(Layout(escape=partial(_escape_value, _ENDS_OF_VALUES[group])))
            if segment is not None:
                yield segment


def _is_text(element: str, name: str, values: Mapping[str, str]) -> bool:
    """Whether the attribute `name` of a tag with these `values` of attributes is text."""
    if (element, name) not in _SHOWN_VALUES:
        return name in _TEXT_ATTRIBUTES
    names, shown = _SHOWN_VALUES[element, name]
    return not names or any(values.get(each, "").strip() in shown for each in names)


def _escape_value(ends: re.Pattern[str], text: str) -> str:
    """Escape `text` as the value of an attribute; characters that match `ends`, which would end the value, become references (&#34;)."""
    return ends.sub(lambda found: f"&#{ord(found.group())};", escape_text(text))


def escape_text(text: str) -> str:
    """Return `text` with references for the characters & and <, unless they belong to a reference already."""
    return _MARKUP.sub(lambda found: "&amp;" if found.group() == "&" else "&lt;", text)
