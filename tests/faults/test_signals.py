"""SIGINT and SIGTERM at any moment with open stdin: exit codes as in shells, no abort, finished lines written."""

import contextlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SIGNALS = (signal.SIGINT, signal.SIGTERM)
Process = subprocess.Popen[bytes]
Start = Callable[..., contextlib.AbstractContextManager[Process]]
# Prints to stderr when the program begins; before that the interpreter handles signals.
PROGRAM = "import sys; from specdec_cli.app import main; print('begun', file=sys.stderr, flush=True); sys.argv = sys.argv[1:]; main()"

# The entry point, whose imports take long.
IMPORTING = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            print("importing", file=sys.stderr, flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
from specdec_cli.__main__ import main
main()
"""
# A program that has done its work, and whose interpreter exits slowly.
EXITING = """
import atexit, sys, time
from specdec_cli.app import main
def exiting():
    print("exiting", file=sys.stderr, flush=True)
    time.sleep(60)
atexit.register(exiting)
sys.argv = ["specdec", "--version"]
main()
"""


@pytest.fixture
def start(bundle_folder: Path, corrector_folder: Path) -> Start:
    """Starts a command with a tiny bundle, a pipe for each stream; stdin stays open until the end of the `with` block."""

    @contextlib.contextmanager
    def started(*arguments: str) -> Iterator[Process]:
        bundle = corrector_folder if arguments[0] == "correct" else bundle_folder
        command = [sys.executable, "-c", PROGRAM, "specdec", *arguments, "-m", str(bundle), "--threads", "1", "--max-length", "9"]
        # Background jobs of a shell ignore SIGINT, and so would their child processes.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == b"begun\n"
            yield process
        finally:
            signal.signal(signal.SIGINT, before)
            process.kill()
            process.communicate()

    return started


def say(process: Process, line: bytes) -> bytes:
    """Send a line and return its output; stdin stays open."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(line)
    process.stdin.flush()
    return process.stdout.readline()


def end(process: Process, number: signal.Signals) -> bytes:
    """Send a signal, check the exit of the process, and return the rest of its output."""
    assert process.stdout is not None and process.stderr is not None
    process.send_signal(number)
    process.wait(120)
    errors = process.stderr.read()
    assert (process.returncode, errors) == (128 + number, b"")
    rest: bytes = process.stdout.read()
    assert rest == b"" or rest.endswith(b"\n")
    return rest


def wait_for_handlers(process: Process) -> None:
    """Wait until the program has installed its signal handlers."""
    bit = 1 << (signal.SIGTERM - 1)
    for _ in range(6000):
        caught = re.search(r"SigCgt:\s+(\w+)", Path(f"/proc/{process.pid}/status").read_text())
        if caught is not None and int(caught[1], 16) & bit:
            return
        time.sleep(0.01)
    raise AssertionError("the program did not set its signal handlers within a minute")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell which signals a process handles")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_start_up_ends_the_program(start: Start, number: signal.Signals, long: bool, count: Callable[[str], None]) -> None:
    began = time.monotonic()
    with start("translate") as process:
        say(process, b"kalo\n")
    whole = time.monotonic() - began
    moments = 30 if long else 3
    for moment in range(moments):
        with start("translate" if moment % 2 else "correct") as process:
            wait_for_handlers(process)
            time.sleep(whole * moment / moments)
            assert end(process, number) == b""
        count("done")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_between_lines_ends_the_program(start: Start, number: signal.Signals, count: Callable[[str], None]) -> None:
    with start("correct") as process:
        assert [say(process, line).endswith(b"\n") for line in (b"kalo mita\n", b"\n", b"resu\n")] == [True] * 3
        assert end(process, number) == b""
    count("done")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_inside_a_line_ends_the_program(start: Start, number: signal.Signals, count: Callable[[str], None]) -> None:
    with start("translate") as process:
        say(process, b"kalo mita\nhalf a line")
        assert end(process, number) == b""
    count("done")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("batch_size", ["1", "8"])
def test_a_signal_while_decoding_ends_the_program(
    start: Start, number: signal.Signals, batch_size: str, long: bool, count: Callable[[str], None]
) -> None:
    for moment in range(10 if long else 1):
        with start("translate", "--batch-size", batch_size) as process:
            # More lines than can be decoded before the signal arrives.
            say(process, b"kalo mita resu no pe\n" * 3000)
            time.sleep(0.04 * moment)
            assert end(process, number).count(b"\n") < 2999
        count("done")


def ended(script: str, word: str, number: signal.Signals) -> tuple[int, str]:
    """Send a signal to a script once it prints `word` to stderr; return the exit code as in a shell, and the rest of stderr."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        signal.signal(signal.SIGINT, before)
        assert process.stderr is not None
        assert process.stderr.readline() == f"{word}\n"
        process.send_signal(number)
        errors = process.communicate(timeout=120)[1]
    return process.returncode if process.returncode >= 0 else 128 - process.returncode, errors


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_imports_ends_the_program(number: signal.Signals, count: Callable[[str], None]) -> None:
    assert ended(IMPORTING, "importing", number) == (128 + number, "")
    count("done")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_the_exit_ends_the_program(number: signal.Signals, count: Callable[[str], None]) -> None:
    assert ended(EXITING, "exiting", number) == (128 + number, "")
    count("done")


def test_a_repeated_signal_counts_once(start: Start, count: Callable[[str], None]) -> None:
    with start("translate") as process:
        say(process, b"kalo\n")
        process.send_signal(signal.SIGTERM)
        end(process, signal.SIGTERM)
    count("done")
