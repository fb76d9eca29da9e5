"""Histogram of the speedups of lines (Ge et al. 2022, Figure 8, where each line is a sentence)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 0.5


@dataclass(frozen=True)
class Bin:
    """A bin of a histogram: `count` lines have a speedup from `low` to `low` + 0.5 (exclusive)."""

    low: float
    count: int


def speedup_histogram(baseline: Sequence[float], times: Sequence[float]) -> list[Bin]:
    """The histogram of the speedups `baseline[i]` / `times[i]`, of the times of line i in two decodings.

    The bins go from the smallest to the largest speedup; empty bins between them are included.
    """
    counts = Counter(int(before / after / WIDTH) for before, after in zip(baseline, times, strict=True))
    return [Bin(WIDTH * number, counts[number]) for number in range(min(counts, default=0), max(counts, default=-1) + 1)]
