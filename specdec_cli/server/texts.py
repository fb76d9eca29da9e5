"""Texts divided into the lines and pieces that are decoded as units: plain texts, paragraphs that are checked, and HTML."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html.entities import html5
from itertools import count, repeat
from typing import NamedTuple

from specdec_cli.decoding.options import Exact, Sampled
from specdec_cli.documents.html import is_space, unescape
from specdec_cli.documents.segments import STAND_IN
from specdec_cli.text.edits import Edit
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.code import code_lines
from specdec_cli.text.segment.paragraphs import Paragraph, is_unfinished, join_paragraphs
from specdec_cli.text.segment.sentences import split_sentences, split_to_limit
from specdec_cli.text.shape import with_own_beginning
from specdec_cli.text.view import View, view_of

LONGEST_PIECE = 600
"""Most characters of a piece."""
_MOST_LINES = 2**20
_LINE_END = re.compile(r"(\r\n|\n|\r)")


@dataclass(frozen=True)
class Pieces:
    """The pieces of a text and the gaps around them, one more than there are pieces. Pieces that `are_fragments` may be headings or table
    cells of a document: no full stop is added to one that ends with a letter.
    """

    texts: tuple[str, ...]
    gaps: tuple[str, ...]
    are_fragments: bool = False

    def join(self, outputs: Sequence[str]) -> str:
        """The text with `outputs` in place of its pieces."""
        return self.gaps[0] + "".join(output + gap for output, gap in zip(outputs, self.gaps[1:], strict=True))


class Manner(NamedTuple):
    """How a request is decoded: with the acceptance `rule` of sampling (None: that of the server), `raw` (the model's own output), and
    `without` some rules of text_variants.py.
    """

    rule: Exact | Sampled | None = None
    raw: bool = False
    without: tuple[str, ...] = ()


USUAL = Manner()


class Piece(str):
    """A piece, and how it is decoded: whether it may be a fragment (see Pieces), the manner, and the number of its line, from which
    random numbers are drawn.
    """

    is_fragment = False
    manner = USUAL
    number = 1


def numbered(texts: Iterable[Pieces], manner: Manner = USUAL) -> Iterator[Piece]:
    """Yield the pieces of the texts of a request, which are decoded in a `manner`. Lines are numbered from 1 through all texts, and so are
    those of a file with these texts; the second piece of a line and those after it have numbers that no line has.
    """
    number = 1
    for text in texts:
        part = 0
        for gap, own in zip(text.gaps, text.texts, strict=False):
            if ends := len(_LINE_END.findall(gap)):
                number, part = number + ends, 0
            piece = Piece(own)
            piece.is_fragment, piece.manner, piece.number = text.are_fragments, manner, number + part * _MOST_LINES
            part += 1
            yield piece
        number += len(_LINE_END.findall(text.gaps[-1])) + 1


def document_pieces(text: str) -> Pieces:
    """The pieces of the text of a segment of a document. One with inline markup is not divided: a pair of tags stays in one piece."""
    match = Pieces((text,), ("", "")) if STAND_IN.search(text) else split_pieces(text, copies_code=False)
    return replace(match, are_fragments=True)


def split_lines(text: str) -> Pieces:
    """Split a text into its lines; blank ones are in the gaps."""
    texts, gaps = list[str](), [""]
    for part in _LINE_END.split(text):
        if part.strip():
            texts.append(part)
            gaps.append("")
        else:
            gaps[-1] += part
    return Pieces(tuple(texts), tuple(gaps))


def split_pieces(text: str, longest: int = LONGEST_PIECE, *, copies_code: bool = True) -> Pieces:
    """Split a text into its lines, and each line of more than `longest` characters into pieces. Lines of code are in the gaps."""
    texts: list[str] = []
    gaps = [""]
    parts = _LINE_END.split(text)
    code = code_lines(parts[::2]) if copies_code else repeat(False)
    for line, ending, is_code in zip(parts[::2], [*parts[1::2], ""], code, strict=False):
        own = Pieces((), (line,)) if is_code else split_line(line, longest)
        gaps[-1] += own.gaps[0]
        texts += own.texts
        gaps += own.gaps[1:]
        gaps[-1] += ending
    return Pieces(tuple(texts), tuple(gaps))


def split_line(line: str, longest: int = LONGEST_PIECE) -> Pieces:
    """Split a line into pieces of at most `longest` characters: between sentences, and inside sentences that are longer."""
    if len(line) <= longest:
        return Pieces((line,), ("", "")) if line.strip() else Pieces((), (line,))
    segments = split_sentences(line)
    texts: list[str] = []
    gaps = [segments.gaps[0]]
    for sentence, gap in zip(segments.texts, segments.gaps[1:], strict=True):
        parts = split_to_limit(sentence, longest, len)
        gaps[-1] += parts.gaps[0]
        for text, after in zip(parts.texts, (*parts.gaps[1:-1], parts.gaps[-1] + gap), strict=True):
            if texts and len(texts[-1]) + len(gaps[-1]) + len(text) <= longest:
                texts[-1] += gaps.pop() + text
            else:
                texts.append(text)
            gaps.append(after)
    return Pieces(tuple(texts), tuple(gaps))


_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


@dataclass(frozen=True)
class CheckedLine(View):
    """A line to correct, as a view of the whole text. `continues`: it begins inside a sentence, which was too long for one line."""

    continues: bool = False

    def within_lines(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return `edits` of this line, so that none replaces a line break of the whole text, or begins a sentence where none begins.

        One on both sides of a line break is divided between its words; it is left out if its two texts have different numbers of words.
        """
        gaps = [piece for piece in self.pieces if piece.is_gap]
        bounds = [place for gap in gaps for place in (gap.start, gap.end)]
        found = self.divided(with_own_beginning(edits) if self.continues else edits, bounds)
        return [edit for edit in found if not any(edit.start == gap.start and edit.end == gap.end for gap in gaps)]

    def between(self, edits: Sequence[Edit], breaks: Sequence[int]) -> list[Edit]:
        """Return `edits` of this line; one that replaces words on both sides of one of `breaks` is divided between them.

        `breaks` are offsets in the whole text, in order. Deletions are not divided: one part of them could be a space alone.
        """
        inside = breaks[bisect_right(breaks, self.begin) : bisect_left(breaks, self.finish)]
        bounds = list(dict.fromkeys(map(self.offset, inside)))
        return [part for edit in edits for part in (self.divided([edit], bounds) if edit.text.strip() else [edit])]


def checked_lines(text: str) -> Iterator[CheckedLine]:
    """Yield the lines of a text that are not blank; wrapped lines of a paragraph are joined, long ones divided between sentences."""
    lines: list[Line] = []
    offsets: list[int] = []
    for match in _LINE.finditer(text):
        lines.append(Line(len(lines) + 1, match[1], match[2], ""))
        offsets.append(match.start())
        if not match[2]:
            break
    for line in join_paragraphs(lines):
        pieces = line.pieces if isinstance(line, Paragraph) else view_of([(line.text, 0, len(line.text), "text")]).pieces
        yield from _divided(CheckedLine(line.text, pieces).moved(offsets[line.number - 1]))


def _divided(line: CheckedLine) -> Iterator[CheckedLine]:
    pieces = split_line(line.text)
    start, previous = 0, ""
    for gap, text in zip(pieces.gaps, pieces.texts, strict=False):
        start += len(gap)
        yield replace(line.part(start, start + len(text)), continues=is_unfinished(previous))
        start, previous = start + len(text), text


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

    The reader of HTML files (documents/html.py) cannot do this. It gives inline tags numbers and makes attributes segments, and the output
    is written into its tree of offsets once. Here the texts keep their inline tags, with attributes as they are, because the translator
    places these, several alternatives of one text are joined, and a text may be any fragment: tags that are not closed, text without a
    block, an & that is no reference. Both have the same rules for references and spaces, which are imported from there.

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
    return Html(tuple(texts), tuple(gaps), kept=kept)


def _copied(page: str) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a page that are copied: first offset, offset after the last, and the letter of the stand-in, "" without one.

    These are the markup between texts, the inline elements that must not be translated ("x"), and the entities of spaces ("n").
    """
    begin, name, depth = 0, "", 0
    for mark in _MARKUP.finditer(page):
        tag = (mark["inline"] or mark["block"] or "").lower()
        # What looks like a tag at the end of the page, without a >, is no text.
        is_inline, closes = mark["inline"] is not None and mark.group().endswith(">"), mark.group().startswith("</")
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
