"""Histogram of speedups over sentences (technical report, Figure 8)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 0.5


@dataclass(frozen=True)
class Bin:
    """The number of sentences with a speedup from `low` to `low` + WIDTH (exclusive)."""

    low: float
    count: int


def speedup_histogram(baseline: Sequence[float], times: Sequence[float]) -> list[Bin]:
    """Bins from the smallest to the largest speedup of `times` over `baseline` (sentence by sentence), empty ones included."""
    counts = Counter(int(before / after / WIDTH) for before, after in zip(baseline, times, strict=True))
    return [Bin(WIDTH * number, counts[number]) for number in range(min(counts, default=0), max(counts, default=-1) + 1)]
