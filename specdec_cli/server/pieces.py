"""Division of texts into the lines and pieces that are decoded as units."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specdec_cli.documents.segments import STAND_IN
from specdec_cli.text.segment.sentences import split_sentences, split_to_limit

LONGEST_PIECE = 600
"""Most characters of a piece."""
_LINE_END = re.compile(r"(\r\n|\n|\r)")


@dataclass(frozen=True)
class Pieces:
    """The pieces of a text and the gaps around them, one more than there are pieces."""

    texts: tuple[str, ...]
    gaps: tuple[str, ...]

    def join(self, outputs: Sequence[str]) -> str:
        """The text with `outputs` in place of its pieces."""
        return self.gaps[0] + "".join(output + gap for output, gap in zip(outputs, self.gaps[1:], strict=True))


class Fragment(str):
    """A piece of a document, which may be a heading or a table cell: no full stop is added to one that ends with a letter."""


def document_pieces(text: str) -> Pieces:
    """The pieces of the text of a segment of a document. One with inline markup is not divided: a pair of tags stays in one piece."""
    found = Pieces((text,), ("", "")) if STAND_IN.search(text) else split_pieces(text)
    return Pieces(tuple(map(Fragment, found.texts)), found.gaps)


def split_pieces(text: str, longest: int = LONGEST_PIECE) -> Pieces:
    """Split a text into its lines, and each line of more than `longest` characters into pieces."""
    texts: list[str] = []
    gaps = [""]
    parts = _LINE_END.split(text)
    for line, ending in zip(parts[::2], [*parts[1::2], ""], strict=True):
        own = split_line(line, longest)
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
