"""How the speedup is spread over sentences (technical report, Figure 8)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 0.5


@dataclass(frozen=True)
class Bin:
    """How many sentences have a speedup from `low`, up to but without `low` + WIDTH."""

    low: float
    count: int


def speedup_histogram(baseline: Sequence[float], times: Sequence[float]) -> list[Bin]:
    """Bins from the smallest to the largest speedup of `times` over `baseline`, the empty ones between them included."""
    places = Counter(int(before / after / WIDTH) for before, after in zip(baseline, times, strict=True))
    return [Bin(WIDTH * place, places[place]) for place in range(min(places, default=0), max(places, default=-1) + 1)]
