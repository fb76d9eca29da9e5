"""Comparison of the duration of rounds with their measured costs."""

from collections import deque
from statistics import median

from specdec_cli.decoding.state import State
from specdec_cli.tuning.round_costs import ROWS

CHECKED, FACTOR = 200, 2.0
"""Costs are outdated if the median ratio of duration to cost, over CHECKED rounds, is above FACTOR or below 1 /
FACTOR.
"""
WIDEST = 32
"""Largest padded source length of rounds that are compared with the costs."""


class CostCheck:
    """Compares the durations of the last CHECKED rounds with the costs that were expected; larger rounds than were
    measured are left out.
    """

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=CHECKED)

    def add(self, state: State, milliseconds: float, expected: float) -> None:
        """Add a round: its duration `milliseconds` and its `expected` cost in milliseconds.

        The round is ignored if the batch of `state` has more than ROWS rows or wider sources than WIDEST, or is on a
        GPU.
        """
        rows, width = state.source.shape
        if rows <= ROWS and width <= WIDEST and expected > 0 and not state.tokens.is_cuda:
            self._ratios.append(milliseconds / expected)

    @property
    def full(self) -> bool:
        """Whether at least CHECKED rounds were added."""
        return len(self._ratios) == CHECKED

    @property
    def failed(self) -> bool:
        """Whether CHECKED rounds were added and the median of their ratios of duration to expected cost is below 1/2
        or above 2.
        """
        return self.full and not 1 / FACTOR <= median(self._ratios) <= FACTOR
