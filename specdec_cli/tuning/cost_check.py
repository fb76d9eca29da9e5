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
    """Stores the ratio of duration to expected cost of the last 200 rounds (CHECKED), from which `failed` says
    whether the costs are outdated. Rounds that are larger than those measured are left out.
    """

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=CHECKED)

    def add(self, state: State, milliseconds: float, expected: float) -> None:
        """Add a round: its duration `milliseconds` and its `expected` cost in milliseconds.

        The round is ignored if the batch of `state` has more than 8 rows (ROWS), sources padded to more than 32
        tokens (WIDEST), or is on a GPU, or if `expected` is 0.
        """
        rows, width = state.source.shape
        if rows <= ROWS and width <= WIDEST and expected > 0 and not state.tokens.is_cuda:
            self._ratios.append(milliseconds / expected)

    @property
    def full(self) -> bool:
        """Whether at least 200 rounds (CHECKED) were added; ignored rounds do not count."""
        return len(self._ratios) == CHECKED

    @property
    def failed(self) -> bool:
        """Whether at least 200 rounds (CHECKED) were added, and the median ratio of duration to expected cost of the
        last 200 is below 1/2 or above 2.
        """
        return self.full and not 1 / FACTOR <= median(self._ratios) <= FACTOR
