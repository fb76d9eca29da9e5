"""The results of a benchmark: what is computed from the runs of a row, as the columns of tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any, Literal

from specdec_cli.benchmark.inputs import Scorer
from specdec_cli.benchmark.rows import BEST, Row
from specdec_cli.benchmark.runs import Output, Run
from specdec_cli.decoding.methods import methods_of
from specdec_cli.metrics.scoring import repetition_rate

NOTHING = "—"
"""The text of a value that was not measured."""
Number = float | tuple[int, int] | None
"""The value of a column: a number, or a pair (count, total); None if it was not measured."""
TableKind = Literal["main", "sweep", "tuning", "synthetic"]


@dataclass(frozen=True)
class Measured:
    """A row of the benchmark, the settings with which it was decoded by name, and its runs over the same lines.

    `greedy` and `beam` are the rows that `compare` pairs with it (None: there is none).
    """

    row: Row
    settings: dict[str, Any]
    runs: tuple[Run, ...]
    greedy: "Measured | None" = None
    beam: "Measured | None" = None

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The output of each line, in order, in the first run."""
        return self.runs[0].outputs

    @cached_property
    def sentences(self) -> int:
        """The number of sentences of one run."""
        return sum(len(output.sentences) for output in self.outputs)

    @cached_property
    def tokens(self) -> int:
        """The number of tokens that were emitted in one run, EOS included."""
        return sum(output.tokens for output in self.outputs)

    @cached_property
    def rounds(self) -> int:
        """The number of rounds of all sentences in one run; 0 if they were not counted."""
        return sum(output.rounds or 0 for output in self.outputs)

    @cached_property
    def seconds(self) -> float:
        """The median wall time of the runs, in seconds."""
        return median(run.seconds for run in self.runs)

    @cached_property
    def milliseconds(self) -> list[float]:
        """For each line with text, its median wall time over all runs, in milliseconds, divided by its number of sentences.

        Empty if the row decoded batches, whose lines have no time of their own.
        """
        times = []
        for outputs in zip(*(run.outputs for run in self.runs), strict=True):
            seconds = [output.seconds for output in outputs if output.seconds is not None]
            if seconds and outputs[0].sentences:
                times.append(1000 * median(seconds) / len(outputs[0].sentences))
        return times

    @cached_property
    def differing_lines(self) -> list[int] | None:
        """The numbers (from 1) of the lines whose output tokens differ from those of greedy decoding; None without a greedy row."""
        if self.greedy is None:
            return None
        pairs = zip(self.outputs, self.greedy.outputs, strict=True)
        return [number for number, (ours, theirs) in enumerate(pairs, start=1) if ours.sentences != theirs.sentences]

    def speedup_over(self, other: "Measured | None") -> float | None:
        """The median wall time of the row `other` divided by that of this row; None if `other` is None."""
        return other.seconds / self.seconds if other else None


def compare(measured: Sequence[Measured]) -> list[Measured]:
    """Pair each row with the first greedy row and the first beam row that `baseline` finds for it among `measured`."""
    return [replace(one, greedy=baseline(one.row, measured, "greedy"), beam=baseline(one.row, measured, "beam")) for one in measured]


def baseline(row: Row, measured: Iterable[Measured], decoding: str) -> Measured | None:
    """The first of `measured` with the decoding `decoding` and the bundle, threads and batch size of `row`; None if there is none.

    The batch size may differ if `row` has the variant "best", for which the benchmark chooses it. A row with the mode
    and the minimum score of `row` is preferred, because they decide which misspelt words are corrected before the model reads a text.
    """
    rows = [one for one in measured if (one.row.decoding, one.row.model, one.row.threads) == (decoding, row.model, row.threads)]
    rows = [one for one in rows if row.variant == BEST or one.row.options.batch_size == row.options.batch_size]
    alike = [one for one in rows if (one.row.options.mode, one.row.min_score) == (row.options.mode, row.min_score)]
    return next(iter(alike or rows), None)


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile `share` (0 to 1) of `values`, interpolated linearly between neighbouring values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


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


Condition = Callable[[str, Sequence[Result]], bool]
"""A function (key, results) that returns whether the column with this key is shown in a table of these results."""


def always(key: str, results: Sequence[Result]) -> bool:  # noqa: ARG001
    """The condition under which a column is always shown: returns True."""
    return True


def if_measured(key: str, results: Sequence[Result]) -> bool:
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
    compute: Callable[[Measured], Number]
    text: Callable[[Any], str]
    tables: Mapping[TableKind, Condition] = field(default_factory=dict)
    cell: Callable[[Result], str] | None = None
    digits: int = 3

    def show(self, result: Result) -> str:
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


def _spread(one: Measured) -> float | None:
    times = [run.seconds for run in one.runs]
    return (max(times) - min(times)) / median(times) if len(times) > 1 else None


def _drafted(one: Measured) -> float | None:
    drafted = one.runs[0].drafted
    return drafted / one.rounds if drafted is not None and one.rounds else None


def _identical(one: Measured) -> tuple[int, int] | None:
    lines = len(one.outputs)
    return None if one.differing_lines is None else (lines - len(one.differing_lines), lines)


def _peak_memory(one: Measured) -> float | None:
    return max((run.peak_memory_mb for run in one.runs if run.peak_memory_mb is not None), default=None)


def _block_size_cell(result: Result) -> str:
    """The mean block size of rounds with a draft if the block size is adaptive, else the block size that was set."""
    if result.numbers["drafted"] is None:
        return str(result.settings.get("block_size", NOTHING))
    size = result.numbers["block_size"]
    return NOTHING if size is None else f"{size:,.1f}"


def _if_adaptive(key: str, results: Sequence[Result]) -> bool:  # noqa: ARG001
    return if_measured("drafted", results)


def _if_several_bundles(key: str, results: Sequence[Result]) -> bool:  # noqa: ARG001
    return any(result.row.model for result in results)


def _if_unverified(key: str, results: Sequence[Result]) -> bool:  # noqa: ARG001
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
        lambda one: repetition_rate(sentence for output in one.outputs for sentence in output.sentences),
        percent(2),
        {"main": _if_unverified, "sweep": _if_unverified},
        digits=6,
    ),
    Column(
        "block_size",
        "block size",
        lambda one: one.runs[0].block_size if one.runs[0].drafted else None,
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


def columns_of(kind: TableKind, results: Sequence[Result]) -> list[Column]:
    """The columns of a table of the kind `kind` whose condition (such as `if_measured`) holds for `results`."""
    return [column for column in COLUMNS if kind in column.tables and column.tables[kind](column.key, results)]


def summarise(measured: Sequence[Measured], score: Scorer) -> list[Result]:
    """Compute the result of every measured row, in order; `score` computes the quality of its output lines.

    Speedups, and the number of lines equal to greedy's, refer to the greedy and beam rows that `compare` finds for the row.
    """
    return [_summarise(one, score) for one in compare(measured)]


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


def _summarise(one: Measured, score: Scorer) -> Result:
    quality = score([output.text for output in one.outputs])
    numbers = {column.key: column.compute(one) for column in COLUMNS}
    first = next(iter(one.differing_lines or ()), None)
    return Result(one.row, one.settings, quality.values if quality else {}, numbers, first)
