"""A line to the texts that a model reads and what stays between them: marks, cells, code, text that is copied."""

import re
from collections.abc import Iterable, Iterator

from specdec_cli.text.copied import Copied, is_code
from specdec_cli.text.marks import split_marks
from specdec_cli.text.sentences import Count, Segments, segment

_TABS = re.compile(r"(?<! )[ ]*\t+[ ]*")
_PIPES = re.compile(r"(?<!\s)\s*(?<!\\)\|+\s*")
# A row of values that are separated by commas or semicolons, without a space after them; and what is in it.
_FIELD = r"(?:\"[^\"]*\"|[^\",;\s][^\",;]*|)"
_ROW = re.compile(rf"{_FIELD}(?:,{_FIELD}){{2,}}|{_FIELD}(?:;{_FIELD}){{2,}}")
_VALUE = re.compile(r"(?:^|[,;])(?:\"[^\"]*\"|(?!\d{3}(?:[,;]|$))[.:/-]*\d[\d.:/-]*)(?=[,;]|$)")


def lay_out(line: str, limit: int, count: Count, copied: Copied, *, split: bool = True) -> Segments:
    """Cut `line` into sentences as `segment` does, apart from what stays as it is, which becomes part of the gaps.

    Leading and trailing marks, program code, sentences without letters and those that `copied` keeps stay. The cells of
    a row that is separated by tabs or pipes, or by commas with quotes, are cut one by one.
    """
    if is_code(line) or copied.keeps(line):
        return Segments((), (line,))
    marked = split_marks(line)
    if is_code(marked.body) or copied.keeps(marked.body):
        return Segments((), (line,))
    cells = list(_cells(marked.body, in_table="|" in marked.head + marked.tail))
    if len(cells) > 1:
        parts = [lay_out(text, limit, count, copied, split=split) if is_cell else text for text, is_cell in cells]
    else:
        parts = [_without_copied(segment(marked.body, limit, count, split=split), copied)]
    return concatenated([marked.head, *parts, marked.tail])


def concatenated(parts: Iterable[str | Segments]) -> Segments:
    """Segments one after the other, with texts that stay between them."""
    texts: list[str] = []
    gaps, too_long = [""], 0
    for part in parts:
        if isinstance(part, str):
            gaps[-1] += part
            continue
        texts += part.texts
        gaps[-1] += part.gaps[0]
        gaps += part.gaps[1:]
        too_long += part.too_long
    return Segments(tuple(texts), tuple(gaps), too_long)


def _without_copied(segments: Segments, copied: Copied) -> Segments:
    """`segments` with the texts that stay made part of the gaps."""
    if not any(map(copied.keeps, segments.texts)):
        return segments
    parts: list[str | Segments] = [segments.gaps[0]]
    for text, gap in zip(segments.texts, segments.gaps[1:], strict=True):
        parts += [text if copied.keeps(text) else Segments((text,), ("", "")), gap]
    return concatenated([*parts, Segments((), ("",), segments.too_long)])


def _cells(text: str, *, in_table: bool) -> Iterator[tuple[str, bool]]:
    """Yield each part of a table row and whether it is a cell or a separator; a text that is no row is one cell."""
    if _ROW.fullmatch(text) and _VALUE.search(text):
        yield from _values(text)
        return
    separator = _TABS if "\t" in text else _PIPES
    gaps = list(separator.finditer(text))
    if separator is _PIPES and len(gaps) < 2 and not in_table:
        gaps = []
    position = 0
    for gap in gaps:
        yield text[position : gap.start()], True
        yield gap.group(), False
        position = gap.end()
    yield text[position:], True


def _values(row: str) -> Iterator[tuple[str, bool]]:
    """The values of a row, without their quotes, as cells."""
    for token in re.findall(r"\"[^\"]*\"|[^\",;]+|[,;]", row):
        if token[0] == '"':
            yield from (('"', False), (token[1:-1], True), ('"', False))
        else:
            yield token, token not in (",", ";")
