"""Whether drafts paid in earlier runs, remembered for a processor and a bundle, so that trials of drafts end."""

from typing import Any

from specdec_cli.measurement_cache import CachedMeasurement

ENDING = 3
"""Runs in a row in which drafts did not pay, after which no further run tries them."""
_FIRST = 24
"""Rounds with a draft after which it is judged for the first time whether they pay; it is judged again each time that they have doubled."""


class DraftOutcomes:
    """The number of runs in a row in which drafts did not pay, in the file of `measurement`; a run in which they do sets it to 0."""

    def __init__(self, measurement: CachedMeasurement) -> None:
        self._measurement, self._due = measurement, _FIRST
        self._losses = self._written = measurement.read(_checked) or 0

    @property
    def ended(self) -> bool:
        """Whether drafts are not to be tried any more."""
        return self._losses >= ENDING

    def judge(self, rounds: int, pays: bool) -> None:
        """Remember whether drafts pay after `rounds` rounds with a draft in this run."""
        if rounds < self._due:
            return
        self._due = 2 * rounds
        losses = 0 if pays else self._losses + 1
        if losses != self._written:
            self._measurement.write({"losses": losses})
            self._written = losses


def _checked(values: dict[str, Any]) -> int:
    losses = values["losses"]
    if type(losses) is not int or losses < 0:
        raise ValueError(f"{losses} runs")
    return losses
