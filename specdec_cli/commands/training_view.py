"""What train-verifier and train-drafter show: progress on the terminal, metrics.csv, and the table of --simulate."""

import csv
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from specdec_cli.errors import UsageError
from specdec_cli.files import naming, write_atomically
from specdec_cli.model.bundle import Bundle
from specdec_cli.opening.machine import Machine
from specdec_cli.training.blocks import simulate
from specdec_cli.training.data import SentencePair
from specdec_cli.training.recipe import RunSettings
from specdec_cli.training.round_costs import measure_round_costs
from specdec_cli.training.trainer import Report

EVERY = 100
"""The number of updates between two rows of the CSV file."""


class TrainingView:
    """A callable that the training loop calls after every update; it writes `metrics.csv` in `folder`, and prints progress.

    A row of metrics is written after every 100 updates and after each evaluation. With `quiet`, nothing is printed. `done` is the
    number of updates of earlier runs; rows for later updates are removed from an existing `metrics.csv`. A context manager, inside
    which the progress bar is shown.
    """

    def __init__(self, folder: Path, run: RunSettings, console: Console, *, done: int, quiet: bool) -> None:
        self._path = folder / "metrics.csv"
        if self._path.exists():
            _trim(self._path, done)
        self._run, self._console, self._quiet = run, console, quiet
        self._losses: list[float] = []
        self._speeds: list[float] = []
        live = console.is_terminal and not quiet
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[what]}"), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console, disable=not live)
        self._bar: TaskID = self._progress.add_task("update 0", total=run.max_updates, what="")

    def __call__(self, report: Report) -> None:
        """Record an update: show it in the progress bar; write a row after EVERY updates and after an evaluation."""
        self._losses.append(report.loss)
        self._speeds.append(report.tokens_per_second)
        progress = report.progress
        what = f"loss {report.loss:.3f}  {self._speed():,.0f} tokens/s"
        self._progress.update(self._bar, completed=progress.update, description=f"update {progress.update:,}", what=what)
        if progress.update % EVERY and not report.figures:
            return
        self._write(report)
        if report.figures and not self._quiet:
            figures = "  ".join(f"{name} {value:.3f}" for name, value in report.figures.items())
            left = self._time_left(report)
            text = f"update {progress.update:,}  epoch {progress.epoch}  {what}  {figures}  {left} left"
            self._progress.console.print(text, highlight=False, soft_wrap=True)
        self._losses.clear()
        self._speeds.clear()

    def _speed(self) -> float:
        """The harmonic mean, because updates have about equal numbers of tokens, and not equal durations."""
        return len(self._speeds) / sum(1 / max(speed, 1e-9) for speed in self._speeds)

    def _time_left(self, report: Report) -> str:
        """The time until the run reaches `max_updates` or `max_epochs`, whichever comes first, with its unit. The present epoch counts as
        the share of its batches that are done.
        """
        progress = report.progress
        epochs = progress.epoch + progress.batch / max(progress.batches, 1)
        left = min(self._run.max_updates / max(progress.update, 1), self._run.max_epochs / max(epochs, 1e-9)) - 1
        seconds = progress.seconds * max(left, 0.0)
        return f"{seconds / 3600:.1f} h" if seconds > 5400 else f"{seconds / 60:.0f} min"

    def _write(self, report: Report) -> None:
        progress = report.progress
        row: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
            "update": progress.update,
            "epoch": progress.epoch,
            "seconds": round(progress.seconds, 1),
            "tokens": progress.tokens,
            "loss": round(sum(self._losses) / len(self._losses), 4),
            "learning_rate": f"{report.learning_rate:.3e}",
            "tokens_per_second": round(self._speed()),
            "figures": " ".join(f"{name}={value:.4f}" for name, value in report.figures.items()),
        }
        new = not self._path.exists()
        with naming(self._path), self._path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(row), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()


def _trim(path: Path, done: int) -> None:
    """Remove the rows of updates after `done` and incomplete rows from a CSV file."""
    header, *rows = list(csv.reader(path.read_text(encoding="utf-8", errors="replace").splitlines())) or [[]]
    place = header.index("update") if "update" in header else len(header)
    kept = [row for row in rows if len(row) == len(header) > place and row[place].isdigit() and int(row[place]) <= done]
    if not kept:
        path.unlink()
    elif kept != rows:
        write_atomically(path, lambda partial: _write_rows(partial, [header, *kept]))


def _write_rows(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


COLUMNS = ("block size", "tokens per round", "break even", "margin", "ms a round", "ms a line", "speedup")
MARGIN = 1.15
"""A block size is printed in bold if its tokens per round are at least this many times those at which drafting breaks even."""


def print_simulation(
    console: Console, bundle: Bundle, timed: Bundle, held_out: Mapping[str, Sequence[SentencePair]], machine: Machine
) -> None:
    """Print tokens per round, break-even tokens per round and milliseconds per line for every block size and each dev set.

    `held_out` has pairs of a source and its greedy output, by name of the dev set. Tokens are counted with `bundle`, whose weights
    are in floating point; rounds are timed with `timed`, the same bundle in the precision of `machine`. Raises UsageError for a
    bundle without a drafter.
    """
    if bundle.drafter is None:
        raise UsageError("--simulate: this bundle has no drafter")
    sizes = range(1, bundle.drafter.config.max_block + 1)
    sources = [pair.source for pairs in held_out.values() for pair in pairs[:10]]
    costs = measure_round_costs(timed, sources, sizes)
    for name, pairs in held_out.items():
        tokens = sum(len(pair.target) for pair in pairs) / len(pairs)
        greedy = costs.encode + tokens * costs.greedy
        title = f"{name}: {len(pairs)} lines of {tokens:.1f} tokens, greedy {greedy:.2f} ms a line"
        table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
        for column in COLUMNS:
            table.add_column(column, justify="right")
        for size in sizes:
            result = simulate(bundle.drafter, pairs, size)
            line = costs.encode + tokens / result.tokens_per_round * costs.rounds[size]
            margin = result.tokens_per_round / costs.break_even(size)
            cells = (result.tokens_per_round, costs.break_even(size), margin, costs.rounds[size], line, greedy / line)
            table.add_row(str(size), *(f"{cell:.2f}" for cell in cells), style="bold" if margin >= MARGIN else None)
        console.print(table)
    settings = ", ".join(f"{key} {value}" for key, value in asdict(machine).items())
    console.print(
        f"{settings}; encoding {costs.encode:.2f} ms, a greedy round {costs.greedy:.2f} ms; bold: {MARGIN - 1:.0%} above break-even"
    )
