"""Costs of rounds in the cache: each of the first runs measures them again, and the least values are kept."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.tuning.round_costs import Costs

RUNS = 3
"""Runs that measure the costs. Other programs can only make a round slower, so the least of several times, which are
further apart than the repetitions of one run, is the best estimate of a round's time on an idle machine.
"""


def final_costs(measurement: CachedMeasurement) -> Costs | None:
    """The cached costs if enough runs (RUNS) measured them, else None."""
    costs, runs = measurement.read(_checked) or (None, 0)
    return costs if runs >= RUNS else None


def cached_costs(measurement: CachedMeasurement, measure: Callable[[], Costs]) -> Costs:
    """The cached costs. Until enough runs (RUNS) measured them, call `measure`, and cache and return the lower value of each
    earlier cost and the new one.
    """
    costs, runs = measurement.read(_checked) or (None, 0)
    if costs is not None and runs >= RUNS:
        return costs
    new = measure()
    costs = new.least(costs) if costs is not None else new
    measurement.write({"runs": runs + 1, **asdict(costs)})
    return costs


def _checked(values: dict[str, Any]) -> tuple[Costs, int]:
    runs = values["runs"]
    if type(runs) is not int or runs < 1:
        raise ValueError(f"{runs} runs")
    return Costs.from_dict({name: value for name, value in values.items() if name != "runs"}), runs
