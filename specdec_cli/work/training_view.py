"""Shows the progress of a training run: printed lines or a progress bar, and rows of metrics in a CSV file."""

import csv
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from specdec_cli.files import naming, write_atomically
from specdec_cli.training.recipe import RunSettings
from specdec_cli.training.trainer import Progress, Report

EVERY = 100
"""The number of updates between two rows of the CSV file."""
LINE_EVERY = 60.0
"""The seconds after which a line is printed where no progress bar is shown."""


class TrainingView:
    """A callable that the training loop calls after every update; it writes `metrics.csv` in `folder`, and prints progress.

    A row of metrics is written after every 100 updates and after each evaluation. After an evaluation a line is printed; in a log, which
    has no progress bar, also once a minute. With `quiet`, nothing is printed. `start` is the progress of earlier processes; rows for later
    updates are removed from an existing `metrics.csv`. A context manager, inside which the progress bar is shown. `clock` returns the time
    in seconds.
    """

    def __init__(
        self,
        folder: Path,
        run: RunSettings,
        console: Console,
        *,
        start: Progress,
        quiet: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = folder / "metrics.csv"
        if self._path.exists():
            _trim(self._path, start.update)
        self._run, self._console, self._quiet, self._start = run, console, quiet, start
        self._clock = clock
        self._begun = self._printed = clock()
        self._losses: list[float] = []
        self._speeds: list[float] = []
        live = console.is_terminal and not quiet
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[what]}"), TimeRemainingColumn())
        self._live = live
        self._progress = Bar(*columns, console=console, disable=not live)
        done = start.update
        self._bar = self._progress.add_task(f"update {done:,}", total=run.max_updates, completed=done, what="")

    def __call__(self, report: Report) -> None:
        """Record an update: show it in the progress bar; write a row after EVERY updates and after an evaluation."""
        self._losses.append(report.loss)
        self._speeds.append(report.tokens_per_second)
        progress = report.progress
        what = f"loss {report.loss:.3f}  {self._speed():,.0f} tokens/s"
        self._progress.update(self._bar, completed=progress.update, description=f"update {progress.update:,}", what=what)
        if not self._quiet and (report.figures or (not self._live and self._clock() - self._printed >= LINE_EVERY)):
            self._print(report, what)
        if progress.update % EVERY and not report.figures:
            return
        self._write(report)
        self._losses.clear()
        self._speeds.clear()

    def _print(self, report: Report, what: str) -> None:
        figures = "".join(f"  {name} {value:.3f}" for name, value in report.figures.items())
        text = f"update {report.progress.update:,}  epoch {report.progress.epoch}  {what}{figures}  {self._time_left(report)} left"
        self._progress.console.print(text, highlight=False, soft_wrap=True)
        self._printed = self._clock()

    def _speed(self) -> float:
        """The harmonic mean, because updates have about equal numbers of tokens, and not equal durations."""
        return len(self._speeds) / sum(1 / max(speed, 1e-9) for speed in self._speeds)

    def _time_left(self, report: Report) -> str:
        """The time until the run reaches `max_updates` or `max_epochs`, whichever comes first, with its unit, at the speed of this process:
        an earlier one may have run on another machine, or beside other programs.
        """
        before, now = self._share(self._start), self._share(report.progress)
        seconds = (self._clock() - self._begun) * max(1.0 - now, 0.0) / max(now - before, 1e-9)
        if seconds > 5400:
            return f"{seconds / 3600:.1f} h"
        return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"

    def _share(self, progress: Progress) -> float:
        """The share of the run that is done. The present epoch counts as the share of its batches that are done."""
        epochs = progress.epoch + progress.batch / max(progress.batches, 1)
        return max(progress.update / self._run.max_updates, epochs / self._run.max_epochs)

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
