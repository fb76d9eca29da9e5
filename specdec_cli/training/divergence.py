"""Divergence of a training run: losses and weights that are not finite."""

import math
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from specdec_cli.errors import TrainingError

MOST_UPDATES = 10
"""A run has diverged if the losses of so many successive updates are not finite. In half precision, a single loss may overflow."""


class Divergence:
    """Raises TrainingError, which names `folder`, when the run in that folder has diverged."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._updates = 0

    def check_loss(self, loss: float, update: int) -> None:
        """Raise TrainingError if `loss`, that of update number `update`, and those of the nine updates before are not finite."""
        self._updates = 0 if math.isfinite(loss) else self._updates + 1
        if self._updates == MOST_UPDATES:
            raise self._error(f"the losses of {MOST_UPDATES} updates", update)

    def check_weights(self, weights: Mapping[str, Tensor], update: int) -> None:
        """Raise TrainingError if any of the weights after update number `update` is not finite."""
        if not all(bool(value.isfinite().all()) for value in weights.values()):
            raise self._error("weights", update)

    def _error(self, what: str, update: int) -> TrainingError:
        advice = "in another folder, try a smaller optimizer.learning_rate, or run.precision=32-true"
        return TrainingError(f"{self._folder}: the run has diverged: {what} are not finite after update {update:,}; {advice}")
