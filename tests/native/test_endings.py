"""SIGINT, SIGTERM and a closed pipe in the middle of a long queue: how the program ends, and what it has written by then."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

LINES = [f"Tom has {number} dogs and the house of his friend is number {number + 1}.\n" for number in range(4000)]
BATCHES = (["--batch-size", "1", "--threads", "2"], ["--batch-size", "8", "--threads", "2"])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of more lines than are decoded before a signal arrives."""
    path = tmp_path_factory.mktemp("queue") / "long.en"
    path.write_text("".join(LINES), encoding="utf-8")
    return path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "specdec_cli", "translate", "--engine", "native", "--quiet", *arguments]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("options", BATCHES)
def test_a_signal_ends_decoding_and_finished_lines_are_written(file: Path, options: list[str], number: signal.Signals) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    process = subprocess.Popen(command(*options, str(file)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    assert process.stdout is not None and process.stderr is not None
    first = process.stdout.readline()
    process.send_signal(number)
    written = [first, *process.stdout]  # communicate() would lose the lines that came together with the first
    assert (process.wait(120), process.stderr.read()) == (128 + number, "")
    process.stdout.close()
    process.stderr.close()
    assert len(written) < len(LINES)
    expected = subprocess.run(command(), input="".join(LINES[: len(written)]), capture_output=True, text=True, check=True)
    assert expected.stdout.splitlines(keepends=True) == written


@pytest.mark.parametrize("options", BATCHES)
def test_a_closed_pipe_ends_decoding(file: Path, options: list[str]) -> None:
    process = subprocess.Popen(command(*options, str(file)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() != ""
    process.stdout.close()
    process.wait(120)
    assert (process.returncode, process.stderr.read()) == (0, "")
    process.stderr.close()
