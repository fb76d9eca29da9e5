"""The results of a benchmark: the values in the table, computed from the runs of each row."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specdec_cli.benchmark.columns import COLUMNS, Number
from specdec_cli.benchmark.comparison import Comparison, compare
from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.rows import Row
from specdec_cli.metrics.scoring import Score

Scorer = Callable[[Sequence[str]], Score | None]
"""A function that computes the quality metrics of the output lines of a row; None if there is no reference."""


@dataclass(frozen=True)
class Result:
    """The values of a row of the table: quality metrics by name, and `numbers` by the key of their column (None: not measured).

    `settings` are those with which the row was decoded, by name. `first_difference` is the number (from 1) of the first line whose
    output tokens differ from those of greedy decoding; None if there is no such line, or no greedy row.
    """

    row: Row
    settings: dict[str, Any]
    quality: Mapping[str, float]
    numbers: Mapping[str, Number]
    first_difference: int | None = None

    def measured(self, key: str) -> float | None:
        """The number with the column key `key`; None if it was not measured, is unknown, or is a pair of count and total."""
        value = self.numbers.get(key)
        return None if isinstance(value, tuple) else value

    def number(self, key: str) -> float:
        """The number with the column key `key`. Raises KeyError where `measured` returns None."""
        if (value := self.measured(key)) is None:
            raise KeyError(key)
        return value


def summarise(measured: Sequence[RowRuns], score: Scorer) -> list[Result]:
    """Compute the result of every measured row, in order; `score` computes the quality of its output lines.

    Speedups, and the number of lines equal to greedy's, refer to the greedy and beam rows that `compare` finds for the row.
    """
    return [_summarise(comparison, score) for comparison in compare(measured)]


def exactness_violations(results: Iterable[Result]) -> list[str]:
    """A message for each row that should be exact but whose output differs from greedy decoding; empty if there is none.

    A row whose mode has a margin (see `Margin`) is not expected to give greedy's output.
    """
    broken = []
    for result in results:
        if "margin" in result.settings:
            continue
        identical = result.numbers.get("identical")
        decoding = result.settings.get("chosen", result.row.decoding)  # `auto` chooses one
        if replace(result.row, decoding=decoding).exact and isinstance(identical, tuple) and result.first_difference is not None:
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
