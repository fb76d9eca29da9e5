"""The command line in forks of a process that has imported all modules, which saves seconds of start-up."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from typer.main import get_command

from specdec_cli.app import app, main

SECONDS = 600
_MODULES = ("work.lines", "pipeline.corrector", "training.drafter", "training.verifier", "training.trainer", "benchmark.measure")
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["__main__", *(f"specdec_cli.{name}" for name in _MODULES), __name__])
get_command(app)  # typer imports modules on its first use


def run_forked(arguments: Sequence[str], folder: Path, text: str = "") -> tuple[int, str]:
    """Run `specdec` in `folder` with `text` on stdin; return its exit code (or minus the number of its signal) and its stderr.

    Raises AssertionError if it runs for longer than SECONDS.
    """
    process = start_forked(arguments, folder, text)
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise AssertionError(f"{' '.join(arguments)}: runs for longer than {SECONDS} s")
    return process.exitcode, (folder / ".stderr").read_text()


def start_forked(arguments: Sequence[str], folder: Path, text: str = "") -> BaseProcess:
    """Start `specdec` in `folder`, in a session of its own; its streams are files there."""
    (folder / ".stdin").write_text(text)
    process = _context.Process(target=_main, args=(list(arguments), folder))
    process.start()
    return process


def wait_for_session(session: int) -> None:
    """Wait until no process of a session is left, such as those that a program has started. Raises AssertionError after a minute."""
    for _ in range(600):
        left = [words for words in map(_status, Path("/proc").glob("[0-9]*/stat")) if words[3:4] == [str(session)] and words[0] not in "ZX"]
        if not left:
            return
        time.sleep(0.1)
    os.killpg(session, signal.SIGKILL)
    raise AssertionError(f"{len(left)} processes outlived the one that started them by a minute")


def _status(path: Path) -> list[str]:
    """State, parent, group and session of a process, from /proc."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _main(arguments: list[str], folder: Path) -> None:
    """Run the program in this process, with files as streams, and exit."""
    os.setsid()
    os.chdir(folder)
    for number, (name, mode) in enumerate(((".stdin", os.O_RDONLY), (".stdout", os.O_WRONLY), (".stderr", os.O_WRONLY))):
        os.dup2(os.open(name, mode | os.O_CREAT | (os.O_TRUNC if number else 0)), number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = ["specdec", *arguments]
    main()
