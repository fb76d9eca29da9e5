"""Lines of text that belong together."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from specdec_cli.documents.document import FileEdit, Point, line_starts, point_at
from specdec_cli.documents.segments import Layout, Segment, is_decoded
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.segment.layout import split_marks
from specdec_cli.text.segment.paragraphs import Paragraph, find_wrapped
from specdec_cli.text.view import View, joined, view_of

_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f](?:[\"')\]\u2019\u201d\u00bb*_`]|</?\w[^<>]*>)*$")


def ends_sentence(text: str) -> bool:
    """Whether `text` ends with punctuation that ends a sentence, with closing marks after it or not."""
    return _SENTENCE_END.search(text.rstrip()) is not None


def line_groups(text: str) -> Iterator[tuple[int, int]]:
    """Yield first and last offset of each line of `text`, or of several lines of a wrapped paragraph (see `find_wrapped`)."""
    lines = text.split("\n")
    begin = position = 0
    for line, goes_on in zip(lines, find_wrapped(lines), strict=True):
        position += len(line)
        if not goes_on:
            yield begin, position
            begin = position + 1
        position += 1


def text_segment(whole: Segment, start: int, end: int) -> tuple[Segment, tuple[int, int]] | None:
    """The segment of the lines from `start` to `end` of a text, and where it is in that text without white space; None for texts that are
    not decoded.

    If these are several lines, they are joined by spaces, and the output is wrapped.
    """
    text = whole.text[start:end]
    if not is_decoded(text):
        return None
    first, last = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    segment = whole.part(first, last)
    lines = text.split("\n")
    if len(lines) > 1:
        indent = re.match(r"\s*", lines[1])
        layout = Layout(width=max(map(len, lines)), gap="\n" + (indent.group() if indent else ""), column=first - start)
        return _joined(segment, layout), (first, last)
    return segment, (first, last)


def with_lines(content: str, segment: Segment) -> Segment:
    """Return the segment with a layout that wraps it as the longest of its lines in the document, if it has several."""
    gaps = [content[piece.begin : piece.finish] for piece in segment.pieces if piece.is_gap]
    if not gaps:
        return segment
    lines = re.split(r"\r\n?|\n", content[segment.begin : segment.finish])
    column = segment.begin - (content.rfind("\n", 0, segment.begin) + 1)
    width = max(len(lines[0]) + column, *map(len, lines[1:]))
    gap = re.sub(r"^[ \t\f]+|(?<=\n)[ \t\r\f]*\n", "", gaps[0])
    layout = replace(segment.layout, width=width, gap=gap, column=column, gaps=dict(_gaps_at_markup(content, segment)))
    return replace(segment, layout=layout)


def _gaps_at_markup(content: str, segment: Segment) -> Iterator[tuple[str, str]]:
    """Yield the gaps after opening markup, before closing markup and between any two, with the keys that `Layout` has for them: others
    are between words.
    """
    marks = segment.layout.marks
    pieces = [("", None), *((segment.text[piece.start : piece.end], piece) for piece in segment.pieces), ("", None)]
    for (left, _), (_, gap), (right, _) in zip(pieces, pieces[1:], pieces[2:], strict=False):
        if gap is not None and gap.is_gap:
            is_between = left in marks and right in marks
            if is_between or (left in marks and left.startswith("<g")):
                yield f"{left} ", content[gap.begin : gap.finish]
            elif right in marks and right.startswith("</g"):
                yield f" {right}", content[gap.begin : gap.finish]


def edited_lines(paragraph: Paragraph, edits: Sequence[Edit]) -> list[tuple[str, str]]:
    """Return the lines of a wrapped paragraph, each with its end, with `edits` of its text made; the lines keep their breaks."""
    content, segment = _lines_of(paragraph)
    text = apply_edits(content, segment.edited(edits))
    return [(match[1], match[2]) for match in re.finditer(r"(?m:^)([^\n]*?)(\r?\n)", text)]


def fitted_edits(paragraph: Paragraph, edits: Sequence[Edit]) -> list[Edit]:
    """Return those of `edits` of the text of a wrapped paragraph that its lines allow (see `Segment.fitted`)."""
    return _lines_of(paragraph)[1].fitted(edits)


def paragraph_edit(paragraph: Paragraph, edit: Edit) -> FileEdit:
    """The change of the file that makes an edit of the text of a wrapped paragraph."""
    content, segment = _lines_of(paragraph)
    change, starts = segment.change(content, edit), line_starts(content)
    start, end = point_at(content, starts, change.start), point_at(content, starts, change.end)
    before = paragraph.lines[0].number - 1
    return FileEdit(Point(start.line + before, start.before), Point(end.line + before, end.before), change.text)


def _lines_of(paragraph: Paragraph) -> tuple[str, Segment]:
    """The lines of a paragraph as they are in the file, and its text as a segment of them."""
    content = "".join(line.text + line.ending for line in paragraph.lines)
    return content, Segment(paragraph.text, paragraph.pieces, Layout(can_begin=lambda word: not split_marks(f"{word} x").head))


def _joined(segment: Segment, layout: Layout) -> Segment:
    """`segment` with a space in the place of each line break and the white space around it."""
    parts, position = list[View](), 0
    for match in re.finditer(r"(?<!\s)\s*\n\s*", segment.text):
        gap = segment.part(*match.span())
        parts += [segment.part(position, match.start()), view_of([(" ", gap.begin, gap.finish, "gap")])]
        position = match.end()
    whole = joined([*parts, segment.part(position, len(segment.text))])
    return replace(segment, text=whole.text, pieces=whole.pieces, layout=layout)
