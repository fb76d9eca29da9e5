"""The text output of `specdec bench`."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table as RichTable

from specdec_cli.benchmark.analyses import ANALYSES
from specdec_cli.benchmark.report import Table, histogram_table, main_table, profile_table, sweep_table, tolerance_table
from specdec_cli.benchmark.sweeps import Sweep
from specdec_cli.commands.bench.run import Outcome

MOST_BUSY = 0.1
"""The largest share (0 to 1) of all processors that other processes may use during a bench without a warning."""
_WIDE = 200
_HEADER_WIDTH = 9


class View:
    """Prints paragraphs and tables to stdout, for a terminal or in Markdown."""

    def __init__(self, markdown: bool) -> None:
        self._markdown = markdown
        # Without COLUMNS, output to a pipe is not wrapped.
        wide = not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit()
        self._console = Console(width=_WIDE if wide else None, highlight=False)

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
            self._console.print(_framed(table.part(start, end)))
            start = end
            if start >= count:
                return

    def _fits(self, table: Table) -> bool:
        wide = self._console.options.update(width=_WIDE)
        return self._console.measure(_framed(table), options=wide).maximum <= self._console.width


def print_outcome(outcome: Outcome, sweep: Sweep, markdown: bool) -> None:
    """Print the machine, the input, and the tables of all results; `sweep` has the values that were varied (empty: none)."""
    view = View(markdown)
    view.paragraph(*environment_lines(outcome.environment, outcome.examples))
    view.table(sweep_table(outcome.results, sweep) if sweep else main_table(outcome.results))
    if set(sweep) == {"top-beta", "tolerance"}:
        view.paragraph("Tokens per round / BLEU:")
        view.table(tolerance_table(outcome.results, sweep))
    if outcome.profiles:
        view.paragraph("Time by module, a sentence:")
        iterations = {result.row.label: result.measured("iterations") for result in outcome.results}
        view.table(profile_table(outcome.profiles, outcome.examples["sentences"], iterations))
    for (name, baseline), bins in outcome.histograms.items():
        view.paragraph(f"Speedup of {name} over {baseline}, sentence by sentence:")
        view.table(histogram_table(bins))
    for name, records in outcome.analyses.items():
        view.paragraph(ANALYSES[name].title)
        view.table(ANALYSES[name].table(records))
    if outcome.signatures:
        view.paragraph(*(f"{name}: {signature}" for name, signature in outcome.signatures.items()))


def print_left_out(left_out: Mapping[str, str]) -> None:
    """Print to stderr, for each reason in `left_out`, the names of the rows that were left out for it."""
    for reason in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name, why in left_out.items() if why == reason)
        print(f"specdec: left out: {names} ({reason})", file=sys.stderr)


def _framed(table: Table) -> RichTable:
    shown = RichTable(box=SIMPLE_HEAD)
    for place, column in enumerate(table.columns):
        header = "\n".join(wrap(column, _HEADER_WIDTH, break_long_words=False, break_on_hyphens=True))
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


@contextmanager
def progress(runs: int, quiet: bool) -> Iterator[Callable[[], None]]:
    """Context manager that shows a progress bar of `runs` runs, on a terminal unless `quiet`; gives the function to call after each."""
    shown = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    # Drawn only between runs: drawing during a run would take processor time.
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("runs"))
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True, disable=not shown) as bar:
        task = bar.add_task("bench", total=runs)

        def report() -> None:
            bar.advance(task)
            bar.refresh()

        bar.refresh()
        yield report
