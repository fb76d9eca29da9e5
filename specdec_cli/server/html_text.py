"""Texts of HTML documents, with inline tags left in place, so that they can be translated."""

import re
from collections.abc import Callable, Sequence
from html import unescape
from html.entities import html5

from specdec_cli.server.pieces import Pieces

_BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|center|col|colgroup|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|"
    "form|h[1-6]|head|header|hr|html|iframe|img|input|legend|li|link|main|meta|nav|ol|optgroup|option|p|section|select|summary|table|"
    "tbody|td|tfoot|th|thead|title|tr|ul|video"
)
_KEPT = "code|iframe|kbd|math|noembed|noframes|noscript|pre|samp|script|style|svg|template|textarea|xmp"
# Attributes as the HTML standard reads them: a > in quotes does not end a tag, and a quote begins a value only after "=".
_VALUE = r"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r "'>][^\t\n\f\r >]*+)"""
_NAME = r"(?:=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++)"
_REST = rf"[^\t\n\f\r />]*+(?:[\t\n\f\r /]++|{_NAME}(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+{_VALUE}?+)?+)*+(?:>|\Z)"
_FLAGS = re.ASCII | re.IGNORECASE | re.DOTALL
_MARKUP = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(?P<kept>{_KEPT})(?=[\t\n\f\r />]){_REST}.*?(?:</(?P=kept)\s*>|\Z)"
    rf"|</?(?P<block>{_BLOCKS})(?=[\t\n\f\r />]){_REST}|<(?:[!?]|/(?![a-z]))[^>]*+(?:>|\Z)|</?(?P<inline>[a-z]){_REST}",
    _FLAGS,
)
_TAG = re.compile(rf"</?[a-z]{_REST}", _FLAGS)
_OLD = "|".join(sorted((name for name in html5 if not name.endswith(";")), key=len, reverse=True))
_ENTITY = rf"(?:[a-z][a-z0-9]*;|#\d|#x[0-9a-f]|(?-i:{_OLD}))"
_BEFORE_ENTITY = re.compile(rf"&(?={_ENTITY})", _FLAGS)
_BARE = re.compile(rf"&(?!{_ENTITY})", _FLAGS)
_SPACES = re.compile(r"[ \t\r\n]+")
_LINE_ENDS = re.compile(r"[\r\n]+")


class Html(Pieces):
    """The texts of an HTML document, and the gaps between them, which hold all else."""

    def join(self, outputs: Sequence[str]) -> str:
        """The document with `outputs` in place of its texts; an & in them that does not begin an entity becomes &amp;."""
        return super().join([_outside_tags(output, lambda text: _BARE.sub("&amp;", text)) for output in outputs])


def split_html(page: str) -> Html:
    """Split HTML into its texts, between tags of blocks.

    Inline tags stay within the texts; the translator keeps tags in place. Entities outside tags become characters,
    apart from those of < and >, and of an & that would begin another entity. Code, scripts and comments are not text.
    """
    texts: list[str] = []
    gaps = [""]
    position = 0
    for match in _MARKUP.finditer(page):
        if match["inline"] is None:
            _add(page[position : match.start()], texts, gaps)
            gaps[-1] += match.group()
            position = match.end()
    _add(page[position:], texts, gaps)
    return Html(tuple(texts), tuple(gaps))


def _add(part: str, texts: list[str], gaps: list[str]) -> None:
    text = part.strip()
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
