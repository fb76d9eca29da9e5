"""The best combinations of scored texts."""

from collections.abc import Sequence
from heapq import nlargest
from operator import itemgetter

Scored = tuple[str, float]
"""A text with its log probability."""


def best_combinations(options: Sequence[Sequence[Scored]], limit: int) -> list[tuple[tuple[str, ...], float]]:
    """Return the `limit` best combinations of one text of each list, with the sums of their scores, best first; so are the lists.

    The best combinations of the first lists are combined with the next list (Huang and Chiang 2005, "Better k-best Parsing").
    """
    found: list[tuple[tuple[str, ...], float]] = [((), 0.0)]
    for own in options:
        # i * j - 1 others are as good as the combination of the ranks i and j or better, so that i * j is at most `limit`.
        pairs = (((*texts, text), total + score) for rank, (texts, total) in enumerate(found, 1) for text, score in own[: limit // rank])
        found = nlargest(limit, pairs, key=itemgetter(1))
    return found
