"""The columns of bench's tables. An entry of COLUMNS computes a value, formats it, and says which tables show it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal, Protocol

from specdec_cli.benchmark.comparison import Comparison, quantile
from specdec_cli.benchmark.rows import Row
from specdec_cli.decoding.methods import methods_of
from specdec_cli.metrics.repetition import repetition_rate

NOTHING = "—"
"""The text of a value that was not measured."""
Number = float | tuple[int, int] | None
"""The value of a column: a number, or a pair (count, total); None if it was not measured."""
TableKind = Literal["main", "sweep", "tuning", "synthetic"]


class Measurements(Protocol):
    """Protocol of a measured row of the table, as columns read it."""

    @property
    def row(self) -> Row:
        """The decoding that was measured, with its settings as they were given."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that were used, by their names in JSON."""

    @property
    def numbers(self) -> Mapping[str, Number]:
        """The measured values (None: not measured), by the keys of their columns."""


Condition = Callable[[str, Sequence[Measurements]], bool]
"""A function (key, results) that returns whether the column with this key is shown in a table of these results."""


def always(key: str, results: Sequence[Measurements]) -> bool:  # noqa: ARG001
    """The condition under which a column is always shown: returns True."""
    return True


def if_measured(key: str, results: Sequence[Measurements]) -> bool:
    """Whether at least one of the results has a value for the column with the key `key`."""
    return any(result.numbers[key] is not None for result in results)


@dataclass(frozen=True)
class Column:
    """A column of bench's tables and JSON.

    `key` is its key in JSON ("a.b": key b of the object a), `header` its title; `compute` gives the value for a row, `text` formats
    a value. `tables` maps the kinds of tables with this column to the condition under which it is shown there. `cell`, if not None,
    formats a cell from the whole result instead of `text`. `digits` is the number of decimals in JSON.
    """

    key: str
    header: str
    compute: Callable[[Comparison], Number]
    text: Callable[[Any], str]
    tables: Mapping[TableKind, Condition] = field(default_factory=dict)
    cell: Callable[[Measurements], str] | None = None
    digits: int = 3

    def show(self, result: Measurements) -> str:
        """The text of this column's cell in the row of `result`."""
        if self.cell is not None:
            return self.cell(result)
        value = result.numbers[self.key]
        return NOTHING if value is None else self.text(value)


def decimals(digits: int) -> Callable[[float], str]:
    """Make the function that formats a number with `digits` decimals."""
    return lambda value: f"{value:,.{digits}f}"


def percent(digits: int) -> Callable[[float], str]:
    """Make the function that formats a share from 0 to 1 as a percentage with `digits` decimals."""
    return lambda value: f"{value:.{digits}%}"


def ratio(value: float) -> str:
    """Format a speedup with two decimals, such as 1.50x."""
    return f"{value:.2f}x"


def _spread(one: Comparison) -> float | None:
    times = [run.seconds for run in one.measured.runs]
    return (max(times) - min(times)) / median(times) if len(times) > 1 else None


def _drafted(one: Comparison) -> float | None:
    drafted = one.measured.runs[0].drafted
    return drafted / one.rounds if drafted is not None and one.rounds else None


def _identical(one: Comparison) -> tuple[int, int] | None:
    lines = len(one.measured.outputs)
    return None if one.differing_lines is None else (lines - len(one.differing_lines), lines)


def _peak_memory(one: Comparison) -> float | None:
    return max((run.peak_memory_mb for run in one.measured.runs if run.peak_memory_mb is not None), default=None)


def _block_size_cell(result: Measurements) -> str:
    """The mean block size of rounds with a draft if the block size is adaptive, else the block size that was set."""
    if result.numbers["drafted"] is None:
        return str(result.settings.get("block_size", NOTHING))
    size = result.numbers["block_size"]
    return NOTHING if size is None else f"{size:,.1f}"


def _if_adaptive(key: str, results: Sequence[Measurements]) -> bool:  # noqa: ARG001
    return if_measured("drafted", results)


def _if_several_bundles(key: str, results: Sequence[Measurements]) -> bool:  # noqa: ARG001
    return any(result.row.model for result in results)


def _if_unverified(key: str, results: Sequence[Measurements]) -> bool:  # noqa: ARG001
    return any(method.unverified for result in results for method in methods_of(result.row.decoding))


COLUMNS: tuple[Column, ...] = (
    Column(
        "iterations",
        "iterations",
        lambda one: one.rounds / one.sentences if one.rounds else None,
        decimals(2),
        {"main": always, "sweep": always, "tuning": always},
    ),
    Column(
        "tokens_per_round",
        "tokens per round",
        lambda one: one.tokens / one.rounds if one.rounds else None,
        decimals(2),
        {"main": always, "sweep": always, "tuning": always, "synthetic": always},
    ),
    Column(
        "tokens_per_sentence",  # Imamura and Sumita 2020, Table 4
        "tokens a sentence",
        lambda one: one.tokens / one.sentences if one.sentences else None,
        decimals(2),
        {"main": _if_several_bundles, "sweep": _if_several_bundles},
    ),
    Column(
        "repetition",  # GAD, Table 9
        "repeated tokens",
        lambda one: repetition_rate(sentence for output in one.measured.outputs for sentence in output.sentences),
        percent(2),
        {"main": _if_unverified, "sweep": _if_unverified},
        digits=6,
    ),
    Column(
        "block_size",
        "block size",
        lambda one: one.measured.runs[0].block_size if one.measured.runs[0].drafted else None,
        decimals(1),
        {"main": _if_adaptive},
        cell=_block_size_cell,
    ),
    Column("drafted", "rounds with a draft", _drafted, percent(0), {"main": _if_adaptive}),
    Column(
        "ms_per_sentence.median",
        "ms a sentence",
        lambda one: median(one.milliseconds) if one.milliseconds else None,
        decimals(1),
        {"main": always, "synthetic": always},
    ),
    Column("ms_per_sentence.p95", "", lambda one: quantile(one.milliseconds, 0.95) if one.milliseconds else None, decimals(1)),
    Column(
        "tokens_per_second",
        "tokens/s",
        lambda one: one.tokens / one.seconds,
        decimals(0),
        {"main": always, "sweep": always, "synthetic": always},
    ),
    Column("spread", "spread", _spread, percent(0), {"main": if_measured, "sweep": if_measured}),
    Column(
        "speedup_vs_greedy",
        "speedup vs greedy",
        lambda one: one.speedup_over(one.greedy),
        ratio,
        {"main": always, "sweep": always},
    ),
    Column(
        "speedup_vs_beam",
        "speedup vs beam",
        lambda one: one.speedup_over(one.beam),
        ratio,
        {"main": always, "sweep": if_measured},
    ),
    Column(
        "identical",
        "identical lines",
        _identical,
        lambda value: f"{value[0]} of {value[1]}",
        {"main": always, "tuning": always, "synthetic": always},
    ),
    Column("peak_memory_mb", "peak memory, MB", _peak_memory, decimals(0), {"main": always}),
)
"""All columns except those of quality metrics, in their order in JSON and in tables."""


def columns_of(kind: TableKind, results: Sequence[Measurements]) -> list[Column]:
    """The columns of a table of the kind `kind` whose condition (such as `if_measured`) holds for `results`."""
    return [column for column in COLUMNS if kind in column.tables and column.tables[kind](column.key, results)]
