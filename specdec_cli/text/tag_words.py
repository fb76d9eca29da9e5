"""Words of a text and its translation between which tags are placed."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from specdec_cli.text.edits import UNSPACED
from specdec_cli.text.protected import protected_spans

_LETTER = rf"(?:(?!{UNSPACED})\w)"
_WORD = re.compile(rf"{UNSPACED}|{_LETTER}+(?:['\u2019.,-]{_LETTER}+)*")
Run = tuple[int, int]
COPIED = 3.0
"""The gain of a word that is the same in the source and the translation; see `copied_gains`."""


def find_words(text: str) -> list[Run]:
    """Return the offsets (start, end) of the words of `text`, in order; a protected span, such as a URL, is one word."""
    spans = protected_spans(text)
    edges = [(0, 0), *spans, (len(text), len(text))]
    between = [found.span() for one, other in pairwise(edges) for found in _WORD.finditer(text, one[1], other[0])]
    return sorted([*between, *spans])


def touched(words: Sequence[Run], start: int, end: int) -> tuple[int, int]:
    """The indices (first, end) of the words that have a character in `start` to `end`; equal if there is none."""
    inside = [number for number, word in enumerate(words) if word[0] < end and start < word[1]]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def copied_gains(source: str, span: Run, output: str) -> list[float]:
    """Return for each word of `output` COPIED if it is once in both texts, in the source inside the `span`, else 0."""
    words, others = find_words(source), find_words(output)
    counts = [Counter(text[start:end] for start, end in runs) for text, runs in ((source, words), (output, others))]
    inside = {source[start:end] for start, end in words[slice(*touched(words, *span))]}
    once = {word for word in inside if counts[0][word] == counts[1][word] == 1}
    return [COPIED * (output[start:end] in once) for start, end in others]
