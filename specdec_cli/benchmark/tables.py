"""Benchmark results as text tables, on a terminal or in Markdown."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from specdec_cli.benchmark.results import COLUMNS, METRICS, NOTHING, Measured, TableKind, number_format, show
from specdec_cli.benchmark.rows import CTRANSLATE2, Sweep
from specdec_cli.errors import counted

MOST_BUSY = 0.1
"""The largest share (0 to 1) of all processors that other processes may use during a bench without a warning."""
_WIDE = 10_000
"""A width in which every table fits."""
_PIPE = 160
"""The width of tables in a pipe or file without COLUMNS, where they have one line of headers; wider ones go on in a table below."""
_HEADER_WIDTH = 9
Cells = dict[str, Callable[[Measured], str]]
"""The columns of a table: for the header of each, a function that returns the text of its cell for a result."""


@dataclass(frozen=True)
class Table:
    """A table of text cells with column headers; all columns but the first `names` hold numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1

    def part(self, start: int, end: int) -> "Table":
        """A table with all name columns, and with the number columns `start` to `end` (exclusive, counted from 0)."""
        names, numbers = slice(self.names), slice(self.names + start, self.names + end)
        return Table(self.columns[names] + self.columns[numbers], tuple(row[names] + row[numbers] for row in self.rows), self.names)

    def to_markdown(self) -> str:
        """The table in GitHub's Markdown."""
        rule = [":--" if number < self.names else "--:" for number in range(len(self.columns))]
        lines = [self.columns, rule, *self.rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_FORMAT: Cells = {"format": lambda result: number_format(result.settings) or NOTHING}
"""The column of number formats."""


def main_table(results: Sequence[Measured], sweep: Sweep | None = None) -> Table:
    """The table of bench: a line for each row, with its quality, figures and speedups, and for each combination of the values of `sweep`
    (Ge et al. 2022, Tables 6 and 12, Figure 7).
    """
    over_first = {"speedup vs the first row": _speedup(results[0])} if results[0].row.model else {}
    if sweep:
        return _table("sweep", results, _names(results), _settings(*sweep) | _FORMAT, over_first)
    return _table("main", results, _names(results), _FORMAT, over_first | _over_ctranslate2(results))


def tuning_table(results: Sequence[Measured], chosen: Mapping[str, Measured]) -> Table:
    """The table of `bench --tune`, with a line for each setting, which names the presets that get it; `chosen` has their results.

    If block sizes were tried, it has also the block size and the speed, by which the block size is chosen.
    """
    block_sizes = len({one.row.options.block_size for one in results}) > 1
    names: Cells = {
        "decoding": lambda result: result.row.name,
        "chosen for": lambda result: ", ".join(name for name, one in chosen.items() if one is result),
    }
    settings = _settings("top-beta", "tolerance", *(["block-size"] if block_sizes else ()))
    speed: Cells = {"tokens/s": lambda result: show(result.number("tokens_per_second"), ",.0f")} if block_sizes else {}
    return _table("tuning", results, names, settings, last=speed)


def synthetic_table(results: Sequence[Measured]) -> Table:
    """The table of a geometry of the synthetic benchmark: a line for each result, with its speedups over the rows without drafts."""
    names: Cells = {"decoding": lambda result: result.row.decoding + ", recorded" * result.settings["recorded"]}
    others = {f"speedup vs {other.row.decoding}": _speedup(other) for other in results if not other.row.drafts}
    return _table("synthetic", results, names, _settings("precision", "threads"), others)


def beside(results: Sequence[Measured]) -> list[tuple[Measured, Measured]]:
    """Each result of specdec with the one of CTranslate2 in batches of the same size."""
    theirs = {result.row.options.batch_size: result for result in results if result.row.decoding in CTRANSLATE2}
    return [(one, theirs[size]) for one in results if one.row.toolkit == "specdec" and (size := one.row.options.batch_size) in theirs]


def batches_table(results: Sequence[Measured]) -> Table:
    """The table of a geometry that is decoded greedily in batches: a line for each result, with speed, memory and start."""
    over = {one.row: _speedup(other) for one, other in beside(results)}
    last: Cells = {
        "speedup vs ctranslate2-greedy": lambda one: over[one.row](one) if one.row in over else NOTHING,
        "peak memory, MB": lambda one: show(one.numbers["peak_memory_mb"], ",.0f"),
        "start, s": lambda one: show(one.settings["start_seconds"], ",.2f"),
    }
    return _table("synthetic", results, _names(results), _settings("precision", "threads", "batch-size"), last=last)


def tolerance_table(results: Sequence[Measured], sweep: Sweep) -> Table:
    """Tokens per round and BLEU by tolerance (rows) and top-beta (columns), as in Table 7 of Ge et al. 2022."""
    tokens = next(column for column in COLUMNS if column.key == "tokens_per_round")
    cells = {
        (result.settings["tolerance"], result.settings["top_beta"]): f"{tokens.show(result)} / {show(result.quality.get('bleu'), ',.2f')}"
        for result in results
        if "top_beta" in result.settings
    }
    columns = ("tolerance", *(f"top-{beta}" for beta in sweep["top-beta"]))
    rows = ((str(tau), *(cells.get((tau, beta), NOTHING) for beta in sweep["top-beta"])) for tau in sweep["tolerance"])
    return Table(columns, tuple(rows))


def profile_table(profiles: Mapping[str, Mapping[str, float]], sentences: int, iterations: Mapping[str, float | None]) -> Table:
    """Milliseconds a sentence and share of the time by module, in two columns for each row (Ge et al. 2022, Table 15).

    `profiles` has, for each row by name, the seconds by module (see `BundleRunner.profile`), summed over `sentences` sentences;
    `iterations` the mean number of rounds of a sentence. The last line is the time of one round of a sentence, without the
    encoders.
    """
    columns = ["module"]
    rows: dict[str, list[str]] = {}
    for name, seconds in profiles.items():
        columns += [f"{name}, ms", "share"]
        total, encoding = sum(seconds.values()), sum(part for module, part in seconds.items() if module.endswith("encoder"))
        for module, part in (*seconds.items(), ("total", total)):
            rows.setdefault(module, [module]).extend([f"{1000 * part / sentences:,.2f}", f"{part / total:.1%}"])
        rounds = sentences * (iterations.get(name) or 0)
        a_round = 1000 * (total - encoding) / rounds if rounds else None
        rows.setdefault("a round", ["a round"]).extend([show(a_round, ",.2f"), NOTHING])
    return Table(tuple(columns), tuple(map(tuple, rows.values())))


def _table(
    kind: TableKind,
    results: Sequence[Measured],
    names: Cells,
    settings: Cells | None = None,
    speedups: Cells | None = None,
    last: Cells | None = None,
) -> Table:
    """A table of a kind: `names`, `settings`, metrics, its COLUMNS with the `speedups` before that of identical lines, and `last`."""
    measured = {name for result in results for name in result.quality}
    columns = dict(names) | dict(settings or {})
    columns |= {header: _metric(name) for name, header in METRICS.items() if name in measured}
    for column in COLUMNS:
        if column.is_in(kind, results):
            columns |= (speedups or {}) if column.key == "identical" else {}
            columns[column.header] = column.show
    columns |= {**(speedups or {}), **(last or {})}
    return Table(tuple(columns), tuple(tuple(cell(result) for cell in columns.values()) for result in results), len(names))


def _names(results: Sequence[Measured]) -> Cells:
    """The columns that name a row: its bundle and the size of its vocabulary, if there are several, and its decoding."""
    models: Cells = {"model": lambda result: result.row.model} if results[0].row.model else {}
    differ = len({result.settings.get("vocabulary") for result in results} - {None}) > 1
    return {**models, **(_settings("vocabulary") if differ else {}), "decoding": lambda result: result.row.name}


def _settings(*keys: str) -> Cells:
    """A column for each setting of a row, by its key in sweeps."""

    def cell(name: str) -> Callable[[Measured], str]:
        return lambda result: str(result.settings.get(name, NOTHING))

    return {key.replace("-", " "): cell(key.replace("-", "_")) for key in keys}


def _metric(name: str) -> Callable[[Measured], str]:
    return lambda result: show(result.quality.get(name), ",.2f")


def _speedup(other: Measured) -> Callable[[Measured], str]:
    return lambda result: show(result.number("tokens_per_second") / other.number("tokens_per_second"), ".2fx")


def _over_ctranslate2(results: Sequence[Measured]) -> Cells:
    """Columns of speedups over the fastest row of each CTranslate2 decoding."""
    theirs = sorted((result for result in results if result.row.decoding in CTRANSLATE2), key=lambda r: r.number("tokens_per_second"))
    fastest = {result.row.decoding: result for result in theirs}
    names = dict.fromkeys(result.row.decoding for result in results if result.row.decoding in fastest)
    return {f"speedup vs {name}": _speedup(fastest[name]) for name in names}


class View:
    """Prints paragraphs and tables to stdout, for a terminal or in Markdown."""

    def __init__(self, markdown: bool) -> None:
        self._markdown = markdown
        self._piped = not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit()
        self._console = Console(width=_PIPE if self._piped else None, highlight=False)

    def paragraph(self, *lines: str) -> None:
        """Print lines of text, as one paragraph in Markdown."""
        for line in lines:
            # Two spaces at its end break the line in Markdown.
            self._console.print(line + "  " * self._markdown, soft_wrap=True, markup=False)
        if self._markdown:
            self._console.print()

    def table(self, table: Table) -> None:
        """Print a table; columns that do not fit the terminal are printed in further tables below."""
        if self._markdown:
            self._console.print(table.to_markdown(), soft_wrap=True, markup=False)
            return
        start, count = 0, len(table.columns) - table.names
        while start < max(count, 1):
            # Columns that do not fit the width go to another table below, so that no number is cut off.
            end = next((end for end in range(count, start + 1, -1) if self._fits(table.part(start, end))), start + 1)
            self._console.print(self._framed(table.part(start, end)))
            start = end

    def _fits(self, table: Table) -> bool:
        wide = self._console.options.update(width=_WIDE)
        return self._console.measure(self._framed(table), options=wide).maximum <= self._console.width

    def _framed(self, table: Table) -> RichTable:
        shown = RichTable(box=SIMPLE_HEAD)
        for index, column in enumerate(table.columns):
            header = column if self._piped else "\n".join(wrap(column, _HEADER_WIDTH, break_long_words=False, break_on_hyphens=True))
            shown.add_column(header, justify="left" if index < table.names else "right", no_wrap=True)
        for row in table.rows:
            shown.add_row(*row)
        return shown


def environment_lines(environment: Mapping[str, Any], examples: Mapping[str, Any]) -> list[str]:
    """Lines of text with the machine, the versions and the input of a bench; see `machine_lines`."""
    decoded = (
        f"{environment['model']}; {examples['name']}: {counted(examples['lines'], 'line')}, {counted(examples['sentences'], 'sentence')}"
    )
    medians = f"; medians of {environment['repetitions']}" if environment["repetitions"] > 1 else ""
    return [*machine_lines(environment), decoded + medians]


def machine_lines(environment: Mapping[str, Any]) -> list[str]:
    """Lines of text with the machine and the versions, and a warning if other processes were busy during the measurement."""
    place = environment["gpu"] or f"{environment['cpu']}, cores: {environment['cores']}, threads: {environment['threads']}"
    versions = ", ".join(f"{name} {environment[name]}" for name in ("specdec", "torch", "ctranslate2"))
    engine = f"; {environment['engine']}" if environment.get("engine") else ""
    lines = [f"{place}; {environment['device']}, {environment['precision']}{engine}", f"{versions}; {environment['date']}"]
    if (busy := environment.get("busy") or 0.0) > MOST_BUSY:
        lines.append(f"Other processes took {busy:.0%} of the processors: these times are not reliable.")
    return lines
