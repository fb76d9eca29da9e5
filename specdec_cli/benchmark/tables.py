"""Benchmark results as text tables, on a terminal or in Markdown, and as JSON."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from specdec_cli.benchmark.results import COLUMNS, NOTHING, Number, Result, TableKind, columns_of, decimals, ratio
from specdec_cli.benchmark.rows import CTRANSLATE2, Sweep

FORMAT = 1
METRICS = {
    "bleu": "BLEU",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeLsum": "ROUGE-Lsum",
    "chrf": "chrF",
    "gleu": "GLEU",
    "precision": "precision",
    "recall": "recall",
    "f05": "F0.5",
    "sari": "SARI",
    "edit_ratio": "edit ratio",
}
"""The headers of quality metrics in tables, by the keys of the metrics, in the order of columns."""

MOST_BUSY = 0.1
"""The largest share (0 to 1) of all processors that other processes may use during a bench without a warning."""
_WIDE = 10_000
"""The width of output to a pipe, where a table has one line of headers."""
_HEADER_WIDTH = 9
Cell = Callable[[Result], str]


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


def main_table(results: Sequence[Result]) -> Table:
    """The table of bench without a sweep: a line for each result, with its quality, the columns of the kind "main", and speedups."""
    names = _names(results)
    return replace(
        _table(names | _quality(results) | _numbers("main", results, _over_first(results) | _over_ctranslate2(results)), results),
        names=len(names),
    )


def sweep_table(results: Sequence[Result], sweep: Sweep) -> Table:
    """The table of a sweep, with a line for each row and combination of values (Ge et al. 2022, Tables 6 and 12, Figure 7)."""
    names = _names(results)
    columns = names | {key.replace("-", " "): _setting(key.replace("-", "_")) for key in sweep}
    return replace(_table(columns | _quality(results) | _numbers("sweep", results, _over_first(results)), results), names=len(names))


def tuning_table(results: Sequence[Result], chosen: Mapping[str, Result], *, block_sizes: bool = False) -> Table:
    """The table of `bench --tune`, with a line for each setting, which names the presets that get it.

    `chosen` has the result of each preset, by name of the preset. With `block_sizes`, the table has also the block size and the speed, by
    which the block size is chosen.
    """
    columns: dict[str, Cell] = {
        "decoding": lambda r: r.row.name,
        "chosen for": lambda r: ", ".join(name for name, one in chosen.items() if one is r),
        "top beta": _setting("top_beta"),
        "tolerance": _setting("tolerance"),
    }
    numbers = _numbers("tuning", results)
    if block_sizes:
        columns |= {"block size": _setting("block_size")}
        numbers |= {"tokens/s": lambda r: f"{r.number('tokens_per_second'):,.0f}"}
    return replace(_table(columns | _quality(results) | numbers, results), names=2)


def tolerance_table(results: Sequence[Result], sweep: Sweep) -> Table:
    """Tokens per round and BLEU by tolerance (rows) and top-beta (columns), as in Table 7 of Ge et al. 2022."""
    cells = {(r.settings["tolerance"], r.settings["top_beta"]): _tokens_and_bleu(r) for r in results if "top_beta" in r.settings}
    columns = ("tolerance", *(f"top-{beta}" for beta in sweep["top-beta"]))
    rows = ((str(tau), *(cells.get((tau, beta), NOTHING) for beta in sweep["top-beta"])) for tau in sweep["tolerance"])
    return Table(columns, tuple(rows))


def synthetic_table(results: Sequence[Result]) -> Table:
    """The table of a geometry of the synthetic benchmark: a line for each result, with its speedups over the rows without drafts."""
    columns: dict[str, Cell] = {
        "decoding": lambda r: f"{r.row.decoding}, recorded" if r.settings["recorded"] else r.row.decoding,
        "precision": _setting("precision"),
        "threads": _setting("threads"),
    }
    others = {f"speedup vs {other.row.decoding}": _speedup(other) for other in results if not other.row.drafts}
    return _table(columns | _numbers("synthetic", results, others), results)


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
            rows.setdefault(module, [module]).extend([decimals(2)(1000 * part / sentences), f"{part / total:.1%}"])
        rounds = sentences * (iterations.get(name) or 0)
        a_round = decimals(2)(1000 * (total - encoding) / rounds) if rounds else NOTHING
        rows.setdefault("a round", ["a round"]).extend([a_round, NOTHING])
    return Table(tuple(columns), tuple(map(tuple, rows.values())))


def _table(columns: Mapping[str, Cell], results: Sequence[Result]) -> Table:
    return Table(tuple(columns), tuple(tuple(cell(result) for cell in columns.values()) for result in results))


def _numbers(kind: TableKind, results: Sequence[Result], speedups: dict[str, Cell] | None = None) -> dict[str, Cell]:
    """The columns of numbers of a table; further `speedups` come before the column of identical lines, or last without it."""
    columns: dict[str, Cell] = {}
    for column in columns_of(kind, results):
        columns |= (speedups or {}) if column.key == "identical" else {}
        columns[column.header] = column.show
    return columns | (speedups or {})


def _names(results: Sequence[Result]) -> dict[str, Cell]:
    """The columns that name a row: its bundle and the size of its vocabulary, if there are several, and its decoding."""
    models: dict[str, Cell] = {"model": lambda r: r.row.model} if results[0].row.model else {}
    sizes: dict[str, Cell] = (
        {"vocabulary": _setting("vocabulary")} if len({r.settings.get("vocabulary") for r in results} - {None}) > 1 else {}
    )
    return models | sizes | {"decoding": lambda r: r.row.name}


def _quality(results: Sequence[Result]) -> dict[str, Cell]:
    """A column for each metric that was computed for any row."""
    measured = {name for result in results for name in result.quality}
    return {label: _metric(name) for name, label in METRICS.items() if name in measured}


def _metric(name: str) -> Cell:
    return lambda result: decimals(2)(result.quality[name]) if name in result.quality else NOTHING


def _setting(name: str) -> Cell:
    return lambda result: str(result.settings.get(name, NOTHING))


def _speedup(other: Result) -> Cell:
    return lambda result: ratio(result.number("tokens_per_second") / other.number("tokens_per_second"))


def _over_first(results: Sequence[Result]) -> dict[str, Cell]:
    """A column of speedups over the first row, if there are several bundles."""
    return {"speedup vs the first row": _speedup(results[0])} if results[0].row.model else {}


def _over_ctranslate2(results: Sequence[Result]) -> dict[str, Cell]:
    """Columns of speedups over the fastest row of each CTranslate2 decoding."""
    fastest: dict[str, Result] = {}
    for result in results:
        name = result.row.decoding
        if name in CTRANSLATE2 and (name not in fastest or result.number("tokens_per_second") > fastest[name].number("tokens_per_second")):
            fastest[name] = result
    return {f"speedup vs {name}": _speedup(other) for name, other in fastest.items()}


def _tokens_and_bleu(result: Result) -> str:
    tokens = next(column for column in COLUMNS if column.key == "tokens_per_round")
    return f"{tokens.show(result)} / {_metric('bleu')(result)}"


def to_json(
    results: Sequence[Result], environment: Mapping[str, Any], examples: Mapping[str, Any], signatures: Mapping[str, str]
) -> dict[str, Any]:
    """The object that `bench --json` writes: format, environment, input, signatures, and an object for each row.

    `environment` describes the machine, `examples` the input, `signatures` how the quality metrics were computed. Values that were
    not measured are None.
    """
    return {
        "format": FORMAT,
        "environment": dict(environment),
        "input": dict(examples),
        "signatures": dict(signatures),
        "rows": [_row_to_json(result) for result in results],
    }


def _row_to_json(result: Result) -> dict[str, Any]:
    record: dict[str, Any] = {"model": result.row.model} if result.row.model else {}
    record |= {"decoding": result.row.decoding, "settings": result.settings}
    record |= {name: _rounded(result.quality.get(name), 3) for name in dict.fromkeys(("bleu", "chrf", *result.quality))}
    for column in COLUMNS:
        outer, _, inner = column.key.partition(".")
        value = _rounded(result.numbers[column.key], column.digits)
        if inner:
            record.setdefault(outer, {})[inner] = value
        else:
            record[outer] = value
    return record


def _rounded(value: Number, digits: int) -> float | list[int] | None:
    if value is None:
        return None
    return list(value) if isinstance(value, tuple) else round(value, digits)


class View:
    """Prints paragraphs and tables to stdout, for a terminal or in Markdown."""

    def __init__(self, markdown: bool) -> None:
        self._markdown = markdown
        # Without COLUMNS, output to a pipe is not wrapped.
        self._wide = not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit()
        self._console = Console(width=_WIDE if self._wide else None, highlight=False)

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
        while True:
            # Columns that do not fit the width go to another table below, so that no number is cut off.
            end = next((end for end in range(count, start + 1, -1) if self._fits(table.part(start, end))), min(start + 1, count))
            self._console.print(self._framed(table.part(start, end)))
            start = end
            if start >= count:
                return

    def _fits(self, table: Table) -> bool:
        wide = self._console.options.update(width=_WIDE)
        return self._console.measure(self._framed(table), options=wide).maximum <= self._console.width

    def _framed(self, table: Table) -> RichTable:
        shown = RichTable(box=SIMPLE_HEAD)
        for place, column in enumerate(table.columns):
            header = column if self._wide else "\n".join(wrap(column, _HEADER_WIDTH, break_long_words=False, break_on_hyphens=True))
            shown.add_column(header, justify="left" if place < table.names else "right", no_wrap=True)
        for row in table.rows:
            shown.add_row(*row)
        return shown


def environment_lines(environment: Mapping[str, Any], examples: Mapping[str, Any]) -> list[str]:
    """Lines of text with the machine, the versions and the input of a bench; see `machine_lines`."""
    return [
        *machine_lines(environment),
        f"{environment['model']}; {examples['name']}: {examples['lines']:,} lines, {examples['sentences']:,} sentences"
        + (f"; medians of {environment['repetitions']}" if environment["repetitions"] > 1 else ""),
    ]


def machine_lines(environment: Mapping[str, Any]) -> list[str]:
    """Lines of text with the machine and the versions, and a warning if other processes were busy during the measurement."""
    place = environment["gpu"] or f"{environment['cpu']}, cores: {environment['cores']}, threads: {environment['threads']}"
    versions = ", ".join(f"{name} {environment[name]}" for name in ("specdec", "torch", "ctranslate2"))
    engine = f"; {environment['engine']}" if environment.get("engine") else ""
    lines = [f"{place}; {environment['device']}, {environment['precision']}{engine}", f"{versions}; {environment['date']}"]
    busy = environment.get("busy")
    if busy is not None and busy > MOST_BUSY:
        lines.append(f"Other processes took {busy:.0%} of the processors: these times are not reliable.")
    return lines
