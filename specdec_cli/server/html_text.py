"""Texts of HTML documents, with inline tags left in place, so that they can be translated."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.entities import html5
from itertools import count

from specdec_cli.documents.html_events import is_space, unescape
from specdec_cli.documents.segments import STAND_IN
from specdec_cli.server.pieces import Pieces

_BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|center|col|colgroup|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|"
    "form|h[1-6]|head|header|hr|html|iframe|img|input|legend|li|link|main|meta|nav|ol|optgroup|option|p|section|select|summary|table|"
    "tbody|td|tfoot|th|thead|title|tr|ul|video"
)
_VOID = frozenset(("br", "col", "hr", "img", "input", "link", "meta"))
_KEPT_INLINE = frozenset(("code", "kbd", "samp"))
_KEPT = "code|iframe|kbd|math|noembed|noframes|noscript|pre|samp|script|style|svg|template|textarea|xmp"
# Attributes as the HTML standard reads them: a > in quotes does not end a tag, and a quote begins a value only after "=".
_VALUE = r"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r "'>][^\t\n\f\r >]*+)"""
_NAME = r"(?:=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++)"
_REST = rf"[^\t\n\f\r />]*+(?:[\t\n\f\r /]++|{_NAME}(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+{_VALUE}?+)?+)*+(?:>|\Z)"
_FLAGS = re.ASCII | re.IGNORECASE | re.DOTALL
_MARKUP = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(?P<kept>{_KEPT})(?=[\t\n\f\r />]){_REST}.*?(?:</(?P=kept)\s*>|\Z)"
    rf"|</?(?P<block>{_BLOCKS})(?=[\t\n\f\r />]){_REST}|<(?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)|</?(?P<inline>[a-z][^\t\n\f\r />]*+){_REST}"
    r"|(?P<reference>&(?:#\d++|#x[0-9a-f]++|[a-z][a-z0-9]*+);?+)",
    _FLAGS,
)
_TAG = re.compile(rf"</?[a-z]{_REST}", _FLAGS)
_ATTRIBUTE = re.compile(rf"({_NAME})(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+({_VALUE}))?+", _FLAGS)
_OLD = "|".join(sorted((name for name in html5 if not name.endswith(";")), key=len, reverse=True))
_ENTITY = rf"(?:[a-z][a-z0-9]*;|#\d|#x[0-9a-f]|(?-i:{_OLD}))"
_BEFORE_ENTITY = re.compile(rf"&(?={_ENTITY})", _FLAGS)
_BARE = re.compile(rf"&(?!{_ENTITY})", _FLAGS)
_SPACES = re.compile(r"[ \t\r\n]+")
_LINE_ENDS = re.compile(r"[\r\n]+")


@dataclass(frozen=True)
class Html(Pieces):
    """The texts of an HTML document, and the markup between them (`gaps`).

    `kept` maps each stand-in, a placeholder tag in a text or a gap, to the part of the document that it replaces.
    """

    kept: Mapping[str, str] = field(default_factory=dict)

    def join(self, outputs: Sequence[str]) -> str:
        """The document with `outputs` in place of its texts; an & in them that does not begin an entity becomes &amp;."""
        escaped = (_outside_tags(output, lambda text: _BARE.sub("&amp;", text)) for output in outputs)
        return STAND_IN.sub(lambda found: self.kept.get(found.group(), found.group()), super().join(list(escaped)))


def split_html(page: str) -> Html:
    """Split HTML into its texts, between tags of blocks.

    Inline tags stay within the texts; the translator keeps tags in place. Entities outside tags become characters,
    apart from those of < and >, and of an & that would begin another entity. Code, scripts, comments, and elements that must not be
    translated are copied. Those that are inline, such as <code>, are replaced by a stand-in, so that they do not cut their sentence, and
    so are entities of spaces.
    """
    texts: list[str] = []
    gaps = [""]
    kept: dict[str, str] = {}
    numbers = _numbers(page)
    position, part = 0, ""
    for begin, finish, letter in _copied(page):
        part += page[position:begin]
        position = finish
        if letter:
            name = f"<{letter}{next(numbers)}/>"
            kept[name] = page[begin:finish]
            part += name
        else:
            _add(part, texts, gaps)
            gaps[-1] += page[begin:finish]
            part = ""
    _add(part + page[position:], texts, gaps)
    return Html(tuple(texts), tuple(gaps), kept)


def _copied(page: str) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a page that are copied: first offset, offset after the last, and the letter of the stand-in, "" without one.

    These are the markup between texts, the inline elements that must not be translated ("x"), and the entities of spaces ("n").
    """
    begin, name, depth = 0, "", 0
    for mark in _MARKUP.finditer(page):
        tag = (mark["inline"] or mark["block"] or "").lower()
        is_inline, closes = mark["inline"] is not None, mark.group().startswith("</")
        if depth:
            depth += 0 if tag != name else -1 if closes else 1
            if not depth:
                yield begin, mark.end(), "x" if is_inline else ""
        elif tag and not closes and tag not in _VOID and _is_kept(mark.group()):
            begin, name, depth = mark.start(), tag, 1
        elif mark["reference"]:
            if is_space(mark.group()):
                yield *mark.span(), "n"
        elif not is_inline:
            yield *mark.span(), "x" if (mark["kept"] or "").lower() in _KEPT_INLINE else ""
    if depth:
        yield begin, len(page), ""


def _is_kept(tag: str) -> bool:
    """Whether a tag says that its element must not be translated."""
    if "translate" not in tag.lower():
        return False
    values = {name.lower(): value.strip("\"'") for name, value in _ATTRIBUTE.findall(tag, 1)}
    return values.get("translate", "").lower() == "no" or "notranslate" in values.get("class", "").split()


def _numbers(page: str) -> Iterator[int]:
    """Numbers of stand-ins that do not occur in a page."""
    taken = set(STAND_IN.findall(page))
    return (number for number in count(1) if taken.isdisjoint((f"<n{number}/>", f"<x{number}/>")))


def _add(part: str, texts: list[str], gaps: list[str]) -> None:
    text = part.strip() if STAND_IN.sub("", part).strip() else ""
    start = part.find(text)
    gaps[-1] += part[:start] if text else part
    if text:
        texts.append(_LINE_ENDS.sub(" ", _outside_tags(text, _plain)))
        gaps.append(part[start + len(text) :])


def _plain(text: str) -> str:
    """A text without tags with its entities as characters, except where these would be read as markup."""
    plain = _BEFORE_ENTITY.sub("&amp;", unescape(text))
    return _SPACES.sub(" ", plain.replace("<", "&lt;").replace(">", "&gt;"))


def _outside_tags(text: str, change: Callable[[str], str]) -> str:
    """`text` with `change` made to each part that is not a tag; an attribute could otherwise become markup."""
    parts = []
    position = 0
    for tag in _TAG.finditer(text):
        parts += [change(text[position : tag.start()]), tag.group()]
        position = tag.end()
    return "".join([*parts, change(text[position:])])
