"""How often a decoder writes the same token twice in a row."""

from collections.abc import Iterable, Sequence
from itertools import pairwise


def repetition_rate(sentences: Iterable[Sequence[int]]) -> float:
    """The share (0 to 1) of all tokens that equal the previous token of their sentence; 0 without tokens (Xia et al. 2022, Table 9).

    `sentences` are token ids.
    """
    tokens = repeated = 0
    for ids in sentences:
        tokens += len(ids)
        repeated += sum(first == second for first, second in pairwise(ids))
    return repeated / tokens if tokens else 0.0
