"""The progress of a run on a cluster: a table on a terminal, a line each minute elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table

from specdec_cli.cluster.run import Progress
from specdec_cli.commands.durations import duration

_LINE_EVERY = 60.0
_TABLE_EVERY = 0.5


class ClusterView:
    """Called with the progress of a run; shows it on `stream` while the `with` block lasts. With `quiet`, nothing is shown."""

    def __init__(self, stream: TextIO, workers: int, *, quiet: bool) -> None:
        self._workers, self._quiet = workers, quiet
        self._console = Console(file=stream)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True) if self._console.is_terminal and not quiet else None
        self._shown = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Show the progress, if it is time to, and the warnings of the job."""
        if self._quiet:
            return
        for message in progress.messages:
            self._console.print(message, markup=False, highlight=False, soft_wrap=True)
        progress.messages.clear()
        now = time.monotonic()
        if now - self._shown < (_LINE_EVERY if self._live is None else _TABLE_EVERY):
            return
        self._shown = now
        if self._live is None:
            self._console.print("specdec: " + ", ".join(" ".join(row) for row in self._rows(progress)), highlight=False, soft_wrap=True)
        else:
            self._live.update(progress_table(self._rows(progress)))

    def _rows(self, progress: Progress) -> list[tuple[str, str]]:
        more = "" if progress.read else "+"
        left = progress.seconds_left
        rows = [
            (f"{progress.finished:,} of {progress.shards:,}{more}", "shards"),
            (f"{progress.lines_per_second:,.1f}", "lines/s"),
            (f"{progress.tokens_per_second:,.0f}", "tokens/s"),
            ("unknown" if left is None else duration(left), "left"),
            (f"{progress.workers:,} of {self._workers:,}", "workers"),
            (f"{progress.retries:,}", "failed tries"),
            (f"{progress.failed:,}", "failed lines"),
        ]
        return [row for row in rows if row[1] != "tokens/s" or progress.tokens_per_second]

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()


def progress_table(rows: list[tuple[str, str]]) -> Table:
    """A table with a column for each row of `rows`: its value and its unit."""
    table = Table(*(unit for _, unit in rows))
    for column in table.columns:
        column.justify = "right"
    table.add_row(*(value for value, _ in rows))
    return table


def print_summary(progress: Progress) -> None:
    """Print the totals of a finished run to stderr."""
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("shards", f"{progress.shards:,}")
    if progress.skipped:
        table.add_row("of earlier runs", f"{progress.skipped:,}")
    table.add_row("lines of this run", f"{progress.counts['lines']:,}")
    table.add_row("lines/s", f"{progress.lines_per_second:,.1f}")
    if progress.counts["tokens"]:
        table.add_row("tokens/s", f"{progress.tokens_per_second:,.0f}")
    table.add_row("failed tries", f"{progress.retries:,}")
    table.add_row("failed lines", f"{progress.failed:,}")
    table.add_row("time of this run", duration(progress.seconds))
    Console(file=sys.stderr).print(table)
