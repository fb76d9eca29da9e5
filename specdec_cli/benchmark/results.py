"""The results of a benchmark: the columns of tables and of JSON, which are computed from the runs of a row."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any, Literal

import numpy

from specdec_cli.benchmark.inputs import Scorer
from specdec_cli.benchmark.rows import BEST, Row
from specdec_cli.benchmark.runs import Output, Run
from specdec_cli.decoding.methods import methods_of
from specdec_cli.kernels import support as kernels
from specdec_cli.metrics.scoring import repetition_rate

NOTHING = "—"
"""The text of a value that was not measured."""
FORMAT = 1
"""The version of the JSON."""
Number = float | tuple[int, int] | None
"""The value of a column: a number, or a pair (count, total); None if it was not measured."""
TableKind = Literal["main", "sweep", "tuning", "synthetic"]
METRICS = {
    **{"bleu": "BLEU", "rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeLsum": "ROUGE-Lsum", "chrf": "chrF", "gleu": "GLEU"},
    **{"precision": "precision", "recall": "recall", "f05": "F0.5", "sari": "SARI", "edit_ratio": "edit ratio"},
}
"""The headers of quality metrics in tables, by the keys of the metrics, in the order of columns."""


@dataclass(frozen=True)
class Measured:
    """What was measured of a row: the settings with which it was decoded, by name, and its runs over the same lines.

    `profile` has the seconds by part of the model, and `operations` the floating-point operations (None: they were not asked for, or
    another toolkit decodes). `summarise` adds what follows from the runs of all rows: `greedy` and `beam`, which this row is compared with
    (None: there is none), the `quality` by metric, and the `numbers` by the key of their column (None: not measured).
    """

    row: Row
    settings: dict[str, Any]
    runs: tuple[Run, ...]
    profile: Mapping[str, float] | None = None
    operations: Mapping[str, float] | None = None
    greedy: "Measured | None" = None
    beam: "Measured | None" = None
    quality: Mapping[str, float] = field(default_factory=dict)
    numbers: Mapping[str, Number] = field(default_factory=dict)

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

    @property
    def identical(self) -> tuple[int, int] | None:
        """The number of lines with the output tokens of greedy decoding, and of all lines; None without a greedy row."""
        lines, differing = len(self.outputs), self.differing_lines
        return None if differing is None else (lines - len(differing), lines)

    @property
    def spread(self) -> float | None:
        """The difference between the longest and the shortest wall time, over the median; None for a single run."""
        times = [run.seconds for run in self.runs]
        return (max(times) - min(times)) / self.seconds if len(times) > 1 else None

    def quantile(self, share: float) -> float | None:
        """The quantile `share` (0 to 1) of the milliseconds of lines; None if lines have no time of their own."""
        return float(numpy.quantile(self.milliseconds, share)) if self.milliseconds else None

    def speedup_over(self, other: "Measured | None") -> float | None:
        """The median wall time of the row `other` divided by that of this row; None if `other` is None."""
        return other.seconds / self.seconds if other else None

    def measured(self, key: str) -> float | None:
        """The number with the column key `key`; None if it was not measured, is unknown, or is a pair of count and total."""
        value = self.numbers.get(key)
        return None if isinstance(value, tuple) else value

    def number(self, key: str) -> float:
        """The number with the column key `key`. Raises KeyError where `measured` returns None."""
        if (value := self.measured(key)) is None:
            raise KeyError(key)
        return value

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of this row for `bench --json`. The value None means: not measured."""
        record: dict[str, Any] = {"model": self.row.model} if self.row.model else {}
        record |= {"decoding": self.row.decoding, "settings": self.settings}
        record |= {name: _rounded(self.quality.get(name), 3) for name in dict.fromkeys(("bleu", "chrf", *self.quality))}
        for column in COLUMNS:
            outer, _, inner = column.key.partition(".")
            value = _rounded(self.numbers[column.key], column.digits)
            record |= {outer: record.get(outer, {}) | {inner: value}} if inner else {outer: value}
        return record


def number_format(settings: Mapping[str, Any]) -> str | None:
    """The number format in which a row with these settings was computed; None if they do not say."""
    format: str | None = settings.get("compute_type", settings.get("precision"))
    return format


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


def show(value: Any, spec: str) -> str:
    """`value` in the format `spec`, in which an x at the end is the unit; a pair as "3 of 4", and None as NOTHING."""
    if value is None:
        return NOTHING
    if isinstance(value, tuple | list):
        return f"{value[0]} of {value[1]}"
    return format(value, spec.removesuffix("x")) + "x" * spec.endswith("x")


@dataclass(frozen=True)
class Column:
    """A column of bench's tables and JSON.

    `key` is its key in JSON ("a.b": key b of the object a), `header` its title; `compute` gives the value for a row, `spec` is its format
    in tables (see `show`), and `digits` the number of decimals in JSON. `tables` are the kinds of tables that show it; with a "?", only if
    `condition` holds for the results (None: if one has a value). `cell`, if not None, is the text instead of the value's.
    """

    key: str
    header: str
    compute: Callable[[Measured], Number]
    spec: str
    tables: str = ""
    condition: Callable[[Sequence[Measured]], bool] | None = None
    cell: Callable[[Measured], str] | None = None
    digits: int = 3

    def show(self, result: Measured) -> str:
        """The text of this column's cell in the row of `result`."""
        return self.cell(result) if self.cell else show(result.numbers[self.key], self.spec)

    def is_in(self, kind: TableKind, results: Sequence[Measured]) -> bool:
        """Whether a table of the kind `kind` with `results` has this column."""
        if f"{kind}?" in self.tables.split():
            return self.condition(results) if self.condition else any(result.numbers[self.key] is not None for result in results)
        return kind in self.tables.split()


def _over(count: float | None, total: float) -> float | None:
    return count / total if count is not None and total else None


def _block_size_cell(result: Measured) -> str:
    """The block size that tables show: its mean over the rounds with a draft if the engine reports that, otherwise the one that was set."""
    if result.numbers["drafted"] is None:
        return str(result.settings.get("block_size") or result.row.options.block_size or NOTHING)
    return show(result.numbers["block_size"], ",.1f")


def _peak_memory(one: Measured) -> float | None:
    return max((run.peak_memory_mb for run in one.runs if run.peak_memory_mb is not None), default=None)


COLUMNS: tuple[Column, ...] = (
    Column("iterations", "iterations", lambda one: _over(one.rounds or None, one.sentences), ",.2f", "main sweep tuning"),
    Column("tokens_per_round", "tokens per round", lambda one: _over(one.tokens, one.rounds), ",.2f", "main sweep tuning synthetic"),
    # Imamura and Sumita 2020, Table 4
    Column(
        "tokens_per_sentence",
        "tokens a sentence",
        lambda one: _over(one.tokens, one.sentences),
        ",.2f",
        "main? sweep?",
        lambda results: any(one.row.model for one in results),
    ),
    # GAD, Table 9
    Column(
        "repetition",
        "repeated tokens",
        lambda one: repetition_rate(sentence for output in one.outputs for sentence in output.sentences),
        ".2%",
        "main? sweep?",
        lambda results: any(method.unverified for one in results for method in methods_of(one.row.decoding)),
        digits=6,
    ),
    Column(
        "block_size",
        "block size",
        lambda one: one.runs[0].block_size or None,
        ",.1f",
        "main?",
        lambda results: any(one.numbers["drafted"] is not None for one in results),
        _block_size_cell,
    ),
    Column("drafted", "rounds with a draft", lambda one: _over(one.runs[0].drafted, one.rounds), ".0%", "main?"),
    Column("ms_per_sentence.median", "ms a sentence", lambda one: one.quantile(0.5), ",.1f", "main synthetic"),
    Column("ms_per_sentence.p95", "", lambda one: one.quantile(0.95), ",.1f"),
    Column("tokens_per_second", "tokens/s", lambda one: one.tokens / one.seconds, ",.0f", "main sweep synthetic"),
    Column("spread", "spread", lambda one: one.spread, ".0%", "main? sweep?"),
    Column("speedup_vs_greedy", "speedup vs greedy", lambda one: one.speedup_over(one.greedy), ".2fx", "main sweep"),
    Column("speedup_vs_beam", "speedup vs beam", lambda one: one.speedup_over(one.beam), ".2fx", "main sweep?"),
    Column("identical", "identical lines", lambda one: one.identical, "", "main tuning synthetic"),
    Column("peak_memory_mb", "peak memory, MB", _peak_memory, ",.0f", "main"),
)
"""All columns except those of quality metrics, in their order in JSON and in tables."""


def summarise(measured: Sequence[Measured], score: Scorer) -> list[Measured]:
    """Compare every measured row with the others, and add its figures; `score` computes the quality of its output lines."""
    results = []
    for one in compare(measured):
        quality = score([output.text for output in one.outputs])
        numbers = {column.key: column.compute(one) for column in COLUMNS}
        results.append(replace(one, quality=quality.values if quality else {}, numbers=numbers))
    return results


@dataclass(frozen=True)
class Outcome:
    """All that a bench measured: its rows with their figures, the environment (machine, versions), the input, signatures of metrics.

    `left_out` maps names of rows that were left out to the reason. `views` has what is stored beside the rows, by its key in JSON:
    "analyses", "profiles", "histograms" and "points", without those that were not computed.
    """

    results: list[Measured]
    environment: dict[str, Any]
    examples: dict[str, Any]
    signatures: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    views: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The object that `bench --json` writes: format, environment, input, signatures, an object for each row, and the views."""
        described = {"environment": self.environment, "input": self.examples, "signatures": self.signatures}
        return {"format": FORMAT} | described | {"rows": [one.to_json() for one in self.results]} | self.views

    @property
    def profiles(self) -> dict[str, dict[str, float]]:
        """The seconds spent in each module (see `BundleRunner.profile`), by name of the row."""
        return dict(self.views.get("profiles", {}))

    @property
    def iterations(self) -> dict[str, float | None]:
        """The mean number of rounds of a sentence, by name of the row."""
        return {one.row.label: one.measured("iterations") for one in self.results}

    def violations(self) -> list[str]:
        """A message for each row that should be exact but whose output differs from greedy decoding; empty if there is none.

        A row whose mode has a margin (see `Margin`) is not expected to give greedy's output. On a GPU what kernels compute is exact in
        every precision; what PyTorch's operators compute is not, since products may depend on the number of rows, as on a CPU in other
        precisions than float32 and int8.
        """
        on_cpu, precise = self.environment["device"] == "cpu", self.environment["precision"] in ("float32", "int8")
        broken = []
        for one in self.results:
            row = replace(one.row, decoding=one.settings.get("chosen", one.row.decoding))  # `auto` chooses one
            promised = precise if on_cpu else one.settings.get("engine") == kernels.DESCRIPTION
            if promised and one.differing_lines and row.exact and "margin" not in one.settings:
                same, difference = show(one.identical, ""), f"line {one.differing_lines[0]} does not"
                broken.append(f"row {one.row.label}: {same} lines equal those of greedy; {difference}")
        return broken


def _rounded(value: Number, digits: int) -> float | list[int] | None:
    if value is None:
        return None
    return list(value) if isinstance(value, tuple) else round(value, digits)
