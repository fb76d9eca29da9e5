"""How often a decoder writes the same token twice in a row."""

from collections.abc import Iterable, Sequence
from itertools import pairwise


def repetition_rate(sentences: Iterable[Sequence[int]]) -> float:
    """The share of all tokens of `sentences` (ids) that equal the token before them; 0 without any tokens (GAD, Table 9)."""
    tokens = repeated = 0
    for ids in sentences:
        tokens += len(ids)
        repeated += sum(first == second for first, second in pairwise(ids))
    return repeated / tokens if tokens else 0.0
