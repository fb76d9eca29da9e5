"""Summary of benchmark runs: the numbers of a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specdec_cli.benchmark.columns import COLUMNS, Number
from specdec_cli.benchmark.comparison import Comparison, compare
from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.rows import Row
from specdec_cli.metrics.scoring import Score

Scorer = Callable[[Sequence[str]], Score | None]
"""The quality of the lines of a row; None if it cannot be computed."""


@dataclass(frozen=True)
class Result:
    """A row of a table: its quality by metric, and its numbers by the key of their column (None: not measured).

    `first_difference` is the number, from 1, of the first line whose tokens are not greedy's.
    """

    row: Row
    settings: dict[str, Any]
    quality: Mapping[str, float]
    numbers: Mapping[str, Number]
    first_difference: int | None = None

    def measured(self, key: str) -> float | None:
        """A number by the key of its column; None if it was not measured."""
        value = self.numbers.get(key)
        return None if isinstance(value, tuple) else value

    def number(self, key: str) -> float:
        """A number that was measured. Raises KeyError for one that was not."""
        if (value := self.measured(key)) is None:
            raise KeyError(key)
        return value


def summarise(measured: Sequence[RowRuns], score: Scorer) -> list[Result]:
    """The numbers of every row. Speedups and identity are relative to the rows that `compare` finds."""
    return [_summarise(comparison, score) for comparison in compare(measured)]


def exactness_violations(results: Iterable[Result]) -> list[str]:
    """Descriptions of the exact rows whose output differs from greedy decoding."""
    broken = []
    for result in results:
        identical = result.numbers.get("identical")
        if result.row.exact and isinstance(identical, tuple) and result.first_difference is not None:
            same, lines = identical
            difference = f"line {result.first_difference} does not"
            broken.append(f"row {result.row.label}: {same} of {lines} lines equal those of greedy; {difference}")
    return broken


def _summarise(comparison: Comparison, score: Scorer) -> Result:
    one = comparison.measured
    quality = score([output.text for output in one.outputs])
    numbers = {column.key: column.compute(comparison) for column in COLUMNS}
    first = next(iter(comparison.differing_lines or ()), None)
    return Result(one.row, one.settings, quality.values if quality else {}, numbers, first)
