"""Long lines in parts that end with sentences, so that the output of the first part does not wait for that of the whole line."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from specdec_cli.text.io.lines import Line
from specdec_cli.text.protect.spans import gaps_outside_spans
from specdec_cli.text.segment.paragraphs import Paragraph
from specdec_cli.text.segment.sentences import Gap, clause_gaps, sentence_gaps, word_gaps

LONG = 8_000
"""The most characters of a line that is not divided."""
PART = 1_500
"""The most characters of a part, unless no place to divide the line is among them."""
_MARK = re.compile(r"(?<=[,;])(?=\S)")


def in_parts(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield `lines`, with the parts of each long line in its place. The ending of a part that `goes_on` is the white space after it."""
    for line in lines:
        position = 0
        for start, end in _gaps(line.text) if len(line.text) > LONG and not (line.is_code or isinstance(line, Paragraph)) else ():
            yield replace(line, text=line.text[position:start], ending=line.text[start:end], goes_on=True)
            position = end
        yield replace(line, text=line.text[position:]) if position else line


def _gaps(text: str) -> Iterator[Gap]:
    """Yield the gaps at which a text is divided."""
    position, size = 0, PART
    while len(text) - position > 2 * size:
        gap = _last_gap(text[position : position + 2 * size], size)
        if gap is None:
            size *= 2
            continue
        yield position + gap[0], position + gap[1]
        position, size = position + gap[1], PART


def _last_gap(text: str, most: int) -> Gap | None:
    """The last gap between sentences that begins within `most` characters, or else between clauses, words or values; None without one."""
    for find in (sentence_gaps, clause_gaps, word_gaps, _value_gaps):
        if found := [gap for gap in find(text) if 0 < gap[0] <= most]:
            return found[-1]
    return None


def _value_gaps(text: str) -> list[Gap]:
    """The offsets, each twice, of the places behind commas and semicolons that no white space follows, outside protected spans."""
    return gaps_outside_spans(text, (match.span() for match in _MARK.finditer(text)))
