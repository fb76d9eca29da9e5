"""Costs of rounds, measured and kept from run to run."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

from specdec_cli.decoding.costs import Costs
from specdec_cli.measurement_cache import CachedMeasurement

RUNS = 3
"""Number of runs of specdec that measure the costs. Other programs can only make a round slower, so the minimum is the best estimate of
the time on an idle machine; a program that disturbs one run has often ended before the next.
"""

_known: dict[Path, Costs] = {}
"""The costs that this process has measured or read, by the file of their cache: all its engines have the same ones."""
_lock = Lock()


def final_costs(measurement: CachedMeasurement) -> Costs | None:
    """The cached costs if RUNS runs have measured them, else None."""
    costs, runs = measurement.read(_checked_costs) or (None, 0)
    return costs if runs >= RUNS else None


def cached_costs(
    measurement: CachedMeasurement, measure: Callable[[], Costs], is_clear: Callable[[Costs], bool] = lambda _: False
) -> Costs:
    """Return the cached costs if RUNS runs have measured them, or one has and they were clear (`is_clear`).

    Otherwise call `measure`, take the minimum of each new cost and the cached one, if there is one, write the result to the cache
    and return it. A process does so once; later calls return the same costs.
    """
    with _lock:
        if measurement.path not in _known:
            _known[measurement.path] = _updated(measurement, measure, is_clear)
        return _known[measurement.path]


def _updated(measurement: CachedMeasurement, measure: Callable[[], Costs], is_clear: Callable[[Costs], bool]) -> Costs:
    costs, runs = measurement.read(_checked_costs) or (None, 0)
    if costs is not None and runs >= RUNS:
        return costs
    new = measure()
    costs = new if costs is None else new.least(costs)
    measurement.write({"runs": RUNS if is_clear(costs) else runs + 1, **asdict(costs)})
    return costs


def _checked_costs(values: dict[str, Any]) -> tuple[Costs, int]:
    runs = values["runs"]
    if type(runs) is not int or runs < 1:
        raise ValueError(f"{runs} runs")
    return Costs.from_dict({name: value for name, value in values.items() if name != "runs"}), runs
