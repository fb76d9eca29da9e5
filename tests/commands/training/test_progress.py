"""What training prints into a log, which has no progress bar."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from rich.console import Console

from specdec_cli.training.recipe import RunSettings
from specdec_cli.training.trainer import Progress, Report
from specdec_cli.work.training_view import LINE_EVERY, TrainingView


def printed(folder: Path, start: Progress, updates: int, seconds: float, *, quiet: bool = False, live: bool = False) -> Iterator[list[str]]:
    """Make `updates` updates of `seconds` after `start`, in a run of 100; yield the lines that were printed after each."""
    now, log = 0.0, StringIO()
    console = Console(file=log, force_terminal=live, width=100)
    view = TrainingView(folder, RunSettings(max_updates=100), console, start=start, quiet=quiet, clock=lambda: now)
    for update in range(start.update + 1, start.update + updates + 1):
        now += seconds
        view(Report(Progress(update, batch=update, batches=1000, seconds=now), 2.5, 1e-3, 1000.0))
        yield log.getvalue().splitlines()


def test_a_log_gets_a_line_every_minute_with_the_time_left(tmp_path: Path) -> None:
    counts = [len(lines) for lines in printed(tmp_path, Progress(), 30, LINE_EVERY / 10)]
    assert counts == [number // 10 for number in range(1, 31)]
    *_, lines = printed(tmp_path, Progress(), 20, LINE_EVERY / 10)
    assert lines == [
        "update 10  epoch 0  loss 2.500  1,000 tokens/s  9 min left",
        "update 20  epoch 0  loss 2.500  1,000 tokens/s  8 min left",
    ]


def test_the_time_left_is_that_of_this_process(tmp_path: Path) -> None:
    # The first process took a minute for each update.
    *_, lines = printed(tmp_path, Progress(50, batch=50, batches=1000, seconds=50 * 60.0), 10, LINE_EVERY / 10)
    assert lines == ["update 60  epoch 0  loss 2.500  1,000 tokens/s  4 min left"]
    *_, lines = printed(tmp_path, Progress(50, batch=50, batches=1000, seconds=50 * 60.0), 1, 300.0)
    assert lines == ["update 51  epoch 0  loss 2.500  1,000 tokens/s  4.1 h left"]


def test_a_quiet_run_and_a_progress_bar_get_no_lines(tmp_path: Path) -> None:
    for options in ({"quiet": True}, {"live": True}):
        *_, lines = printed(tmp_path, Progress(), 20, LINE_EVERY, **options)
        assert "left" not in "".join(lines)
