"""Segmentation of a line into texts for the model, and gaps between them that are copied: markers, cell separators,
code.
"""

import re
from collections.abc import Iterable, Iterator

from specdec_cli.text.marks import split_marks
from specdec_cli.text.passthrough import Passthrough, is_code
from specdec_cli.text.protected import gaps_outside_spans
from specdec_cli.text.sentences import Count, Segments, segment

_TABS = re.compile(r"(?<! )[ ]*\t+[ ]*")
_PIPES = re.compile(r"(?<!\s)\s*(?<!\\)\|+\s*")
_COLUMNS = re.compile(r"(?<=\S) {3,}(?=\S)")
# A row of values separated by commas or semicolons without spaces, and a value that is quoted or a number.
_FIELD = r"(?:\"[^\"]*\"|[^\",;\s][^\",;]*|)"
_ROW = re.compile(rf"{_FIELD}(?:,{_FIELD}){{2,}}|{_FIELD}(?:;{_FIELD}){{2,}}|(?:\"[^\"]*\"|[\w.-]+)[,;]\"[^\"]*\"")
_VALUE = re.compile(r"(?:^|[,;])(?:\"[^\"]*\"|(?!\d{3}(?:[,;]|$))[.:/-]*\d[\d.:/-]*)(?=[,;]|$)")


def segment_line(line: str, limit: int, count: Count, passthrough: Passthrough, *, split: bool = True) -> Segments:
    """Split `line` into sentences like `segment`, but make text that must not change part of the gaps.

    That is markers at either end such as bullets and comment signs (see `split_marks`), program code, and sentences
    that `passthrough` matches. The cells of a table row (separated by tabs, pipes, commas between quoted values, or, in
    translation, three spaces or more) are split one by one. `limit` and `count` are as in `segment`.
    """
    if is_code(line) or passthrough.matches(line):
        return Segments((), (line,))
    marked = split_marks(line)
    if marked.body != line and (is_code(marked.body) or passthrough.matches(marked.body)):
        return Segments((), (line,))
    cells = list(_cells(marked.body, in_table="|" in marked.head + marked.tail, columns=passthrough.translates))
    if len(cells) > 1:
        parts = [segment_line(text, limit, count, passthrough, split=split) if is_cell else text for text, is_cell in cells]
    else:
        segments = segment(marked.body, limit, count, split=split)
        parts = [segments if segments.texts == (marked.body,) else _merge_passthrough(segments, passthrough)]
    return concatenate([marked.head, *parts, marked.tail])


def concatenate(parts: Iterable[str | Segments]) -> Segments:
    """Join segments, in order, into one; a string becomes part of the gap at its position."""
    texts: list[str] = []
    gaps, continued = [""], set[int]()
    for part in parts:
        if isinstance(part, str):
            gaps[-1] += part
            continue
        continued |= {len(texts) + place for place in part.continued}
        texts += part.texts
        gaps[-1] += part.gaps[0]
        gaps += part.gaps[1:]
    return Segments(tuple(texts), tuple(gaps), frozenset(continued))


def _merge_passthrough(segments: Segments, passthrough: Passthrough) -> Segments:
    """`segments` with the texts that `passthrough` matches made part of the gaps."""
    if not any(map(passthrough.matches, segments.texts)):
        return segments
    parts: list[str | Segments] = [segments.gaps[0]]
    for place, (text, gap) in enumerate(zip(segments.texts, segments.gaps[1:], strict=True)):
        continued = frozenset({0} if place in segments.continued else ())
        parts += [text if passthrough.matches(text) else Segments((text,), ("", ""), continued), gap]
    return concatenate(parts)


def _cells(text: str, *, in_table: bool, columns: bool) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a table row, each with whether it is a cell; a text that is not a row is one cell. With `columns`, runs of
    spaces separate cells, too.
    """
    if _ROW.fullmatch(text) and _VALUE.search(text):
        yield from _values(text)
        return
    separator = _TABS if "\t" in text else _PIPES
    gaps = _gaps(separator, text)
    if separator is _PIPES and len(gaps) < 2 and not in_table:
        gaps = _gaps(_COLUMNS, text) if columns else []
    position = 0
    for start, end in gaps:
        yield text[position:start], True
        yield text[start:end], False
        position = end
    yield text[position:], True


def _gaps(separator: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return gaps_outside_spans(text, (found.span() for found in separator.finditer(text)))


def _values(row: str) -> Iterator[tuple[str, bool]]:
    """Yield the values of a row as cells; quotes and separators are not cells."""
    for token in re.findall(r"\"[^\"]*\"|[^\",;]+|[,;]", row):
        if token[0] == '"':
            yield from (('"', False), (token[1:-1], True), ('"', False))
        else:
            yield token, token not in (",", ";")
