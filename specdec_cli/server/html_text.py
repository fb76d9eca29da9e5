"""Texts of HTML documents, with inline tags left in place, so that they can be translated."""

import re
from collections.abc import Sequence
from html import unescape

from specdec_cli.server.pieces import Pieces

_BLOCKS = (
    "address|article|aside|blockquote|body|br|caption|center|col|colgroup|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|"
    "form|h[1-6]|head|header|hr|html|iframe|img|input|legend|li|link|main|meta|nav|ol|optgroup|option|p|section|select|summary|table|"
    "tbody|td|tfoot|th|thead|title|tr|ul|video"
)
_KEPT = "code|kbd|math|pre|samp|script|style|svg|template|textarea"
_SPLIT = re.compile(
    rf"(<!--.*?(?:-->|\Z)|<!doctype[^<>]*>|<({_KEPT})\b[^<>]*>.*?(?:</\2\s*>|\Z)|</?(?:{_BLOCKS})\b[^<>]*>)", re.IGNORECASE | re.DOTALL
)
_NAME = r"(?:[a-z][a-z0-9]*|#\d{1,7}|#x[0-9a-f]{1,6});"
# Not those of < and >, which would become tags, nor that of an & before what would then be an entity.
_ENTITY = re.compile(rf"&(?!(?:lt|gt|#0*6[02]|#x0*3[ce]);)(?!(?:amp|#0*38|#x0*26);{_NAME}){_NAME}", re.IGNORECASE)
_BARE = re.compile(rf"&(?!{_NAME})", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\r\n]+")


class Html(Pieces):
    """The texts of an HTML document, and the gaps between them, which hold all else."""

    def join(self, outputs: Sequence[str]) -> str:
        """The document with `outputs` in place of its texts; an & in them that begins no entity is written as one."""
        return super().join([_BARE.sub("&amp;", output) for output in outputs])


def split_html(page: str) -> Html:
    """Split HTML into its texts, between tags of blocks.

    Inline tags stay within the texts; the translator keeps tags in place. Entities become characters, apart from
    those of < and >. Code, scripts and comments are not text.
    """
    texts: list[str] = []
    gaps = [""]
    position = 0
    for match in _SPLIT.finditer(page):
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
        plain = _ENTITY.sub(lambda entity: unescape(entity.group()), text)
        texts.append(_SPACES.sub(" ", plain))
        gaps.append(part[start + len(text) :])
