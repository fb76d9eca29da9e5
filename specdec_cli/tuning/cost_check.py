"""Comparison of the duration of rounds with their measured costs."""

from collections import deque
from statistics import median

from specdec_cli.decoding.state import State
from specdec_cli.tuning.round_costs import ROWS

CHECKED, FACTOR = 200, 2.0
"""Costs are outdated if the median of CHECKED rounds differs from them by more than this factor."""
WIDEST = 32
"""Largest source width of rounds that are compared with the costs."""


class CostCheck:
    """Compares the duration of rounds with their `Costs`, over the last CHECKED rounds whose size is near the measured ones."""

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=CHECKED)

    def add(self, state: State, milliseconds: float, expected: float) -> None:
        """Count a round of `state` with its duration and the `expected` one, in milliseconds; large rounds and GPUs are left out."""
        rows, width = state.source.shape
        if rows <= ROWS and width <= WIDEST and expected > 0 and not state.tokens.is_cuda:
            self._ratios.append(milliseconds / expected)

    @property
    def full(self) -> bool:
        """Whether at least CHECKED rounds were counted."""
        return len(self._ratios) == CHECKED

    @property
    def failed(self) -> bool:
        """Whether the median round took less than half or more than twice the expected time."""
        return self.full and not 1 / FACTOR <= median(self._ratios) <= FACTOR
