"""SIGINT and SIGTERM at every moment, stdin left open: the exit codes of shells, no abort, finished lines written."""

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
# Tells on stderr when the program has begun: what comes before is the interpreter's.
PROGRAM = "import sys; from specdec_cli.app import main; print('begun', file=sys.stderr, flush=True); sys.argv = sys.argv[1:]; main()"


@pytest.fixture
def start(bundle_folder: Path) -> Start:
    """Starts a command with the tiny bundle, a pipe for each stream; stdin stays open until the end of the `with` block."""

    @contextlib.contextmanager
    def started(*arguments: str) -> Iterator[Process]:
        command = [sys.executable, "-c", PROGRAM, "specdec", *arguments, "-m", str(bundle_folder), "--threads", "1", "--max-length", "9"]
        # A shell's background jobs ignore SIGINT, and so would theirs.
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
    """What a line becomes, while stdin stays open."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(line)
    process.stdin.flush()
    return process.stdout.readline()


def end(process: Process, number: signal.Signals) -> bytes:
    """Send a signal and check how the process ends; the rest of its output."""
    assert process.stdout is not None and process.stderr is not None
    process.send_signal(number)
    process.wait(120)
    errors = process.stderr.read()
    assert (process.returncode, errors) == (128 + number, b"")
    rest: bytes = process.stdout.read()
    assert rest == b"" or rest.endswith(b"\n")
    return rest


def wait_for_handlers(process: Process) -> None:
    """Wait until the program has set its signal handlers; before that, the interpreter has its own way to end."""
    bit = 1 << (signal.SIGTERM - 1)
    for _ in range(6000):
        caught = re.search(r"SigCgt:\s+(\w+)", Path(f"/proc/{process.pid}/status").read_text())
        if caught is not None and int(caught[1], 16) & bit:
            return
        time.sleep(0.01)
    raise AssertionError("the program did not set its signal handlers within a minute")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell which signals a process handles")
@pytest.mark.parametrize("number", SIGNALS)
def test_during_start_up(start: Start, number: signal.Signals, long: bool, count: Callable[[str], None]) -> None:
    began = time.monotonic()
    with start("translate") as process:
        say(process, b"kalo\n")
    whole = time.monotonic() - began
    moments = 60 if long else 3
    for moment in range(moments):
        with start("translate" if moment % 2 else "correct") as process:
            wait_for_handlers(process)
            time.sleep(whole * moment / moments)
            assert end(process, number) == b""
        count("done")


@pytest.mark.parametrize("number", SIGNALS)
def test_between_lines(start: Start, number: signal.Signals, count: Callable[[str], None]) -> None:
    with start("correct") as process:
        assert [say(process, line).endswith(b"\n") for line in (b"kalo mita\n", b"\n", b"resu\n")] == [True] * 3
        assert end(process, number) == b""
    count("done")


@pytest.mark.parametrize("number", SIGNALS)
def test_while_waiting_for_the_rest_of_a_line(start: Start, number: signal.Signals, count: Callable[[str], None]) -> None:
    with start("translate") as process:
        say(process, b"kalo mita\nhalf a line")
        assert end(process, number) == b""
    count("done")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("batch_size", ["1", "8"])
def test_while_decoding(start: Start, number: signal.Signals, batch_size: str, long: bool, count: Callable[[str], None]) -> None:
    for moment in range(20 if long else 1):
        with start("translate", "--batch-size", batch_size) as process:
            # More than can be decoded before the signal comes.
            say(process, b"kalo mita resu no pe\n" * 3000)
            time.sleep(0.02 * moment)
            assert end(process, number).count(b"\n") < 2999
        count("done")


def test_a_signal_that_comes_twice_is_one(start: Start, count: Callable[[str], None]) -> None:
    with start("translate") as process:
        say(process, b"kalo\n")
        process.send_signal(signal.SIGTERM)
        end(process, signal.SIGTERM)
    count("done")
