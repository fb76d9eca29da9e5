"""Counts of n-grams."""

from collections import Counter
from collections.abc import Sequence

Ngrams = Counter[tuple[str, ...]]


def ngrams(tokens: Sequence[str], order: int) -> Ngrams:
    """How often each n-gram of `order` tokens occurs in `tokens`."""
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))
