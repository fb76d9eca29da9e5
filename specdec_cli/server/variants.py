"""Several outputs for a text that consists of parts, each with several outputs of its own."""

import re
from collections.abc import Callable, Iterable, Sequence

_WORD = re.compile(r"\w+")


def variants(join: Callable[[Sequence[str]], str], outputs: Sequence[Sequence[str]]) -> list[str]:
    """The texts of different words that `join` makes of the n-th output of each part, or its last one, for n = 0, 1, ..

    `outputs` has the outputs of each part, at least one and the best first.
    """
    distinct = [_different(each) for each in outputs]
    ranks = range(max(map(len, distinct), default=1))
    return list(dict.fromkeys(join([each[min(rank, len(each) - 1)] for each in distinct]) for rank in ranks))


def _different(texts: Iterable[str]) -> list[str]:
    """The first of all texts with the same words, whatever their punctuation is."""
    found: dict[tuple[str, ...], str] = {}
    for text in texts:
        found.setdefault(tuple(_WORD.findall(text)) or (text,), text)
    return list(found.values())
