"""This process: signals that end it, its standard streams, and its end."""

import atexit
import contextlib
import io
import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn, TextIO

PATIENCE = 1.0
"""Seconds after the first signal during which further signals are ignored: `timeout` sends each signal twice."""
_DELAY = 0.05
"""Seconds until the exception of a signal that arrived during an import is tried again."""
_IMPORT = "<frozen importlib._bootstrap>"
"""The file name of the frames of Python's import system."""


class Ending:
    """Handlers of SIGINT and SIGTERM: the first signal raises an exception; further ones are ignored for 1 second
    (PATIENCE), and after that the next one ends the process at once.

    SIGINT raises KeyboardInterrupt, SIGTERM SystemExit. During an import the exception is delayed until the import
    has ended, because import code may swallow or replace it. `signal` is the number of the signal that arrived, None
    before. Set `over` when the program has done its work: the first signal then ends the process at once too,
    because an exception during the interpreter's exit would only be printed.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.over = False
        self._since = 0.0

    def install(self) -> None:
        """Install the handlers of SIGINT, SIGTERM and SIGALRM; a signal that the parent process ignores (as `nohup`
        does) stays ignored.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._arrived)
        signal.signal(signal.SIGALRM, lambda _, frame: self._raise(frame))

    def finish(self) -> None:
        """Raise SystemExit with the exit code that shells report for a process ended by the signal: 128 plus the
        signal's number.
        """
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.exit(self._exit_code)

    @property
    def _exit_code(self) -> int:
        return 128 + (self.signal or 0)

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.signal is None:
            self.signal, self._since = number, now
            if self.over:
                os._exit(self._exit_code)
            self._raise(frame)
        elif now - self._since > PATIENCE:
            os._exit(self._exit_code)

    def _raise(self, frame: FrameType | None) -> None:
        if _imports(frame):
            signal.setitimer(signal.ITIMER_REAL, _DELAY)
        elif self.signal == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            sys.exit(self._exit_code)


def _imports(frame: FrameType | None) -> bool:
    """Whether an import is running in `frame` or in one of its callers."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False


def prepare_streams() -> None:
    """Open the standard streams that are closed, and buffer stdout and stderr; what cannot be written to stderr is discarded.

    Without a buffer (PYTHONUNBUFFERED), Python writes as much as fits on the disk and drops the rest without an error. A terminal of 0
    columns or lines, as some programs name one whose size they do not know, has the default size.
    """
    for size in ("COLUMNS", "LINES"):
        if os.environ.get(size) == "0":
            del os.environ[size]
    _open_closed_streams()
    at_once = isinstance(sys.stdout.buffer, io.RawIOBase) or sys.stdout.isatty()
    sys.stdout = _in_place_of(sys.stdout, _Waiting, at_once=at_once)
    sys.stderr = _in_place_of(sys.stderr, _Discarding, at_once=True)


def _in_place_of(before: TextIO, kind: type[io.BufferedWriter], *, at_once: bool) -> TextIO:
    """A stream with a buffer of the class `kind` that writes to the file of `before`; `at_once`: at each end of a line.

    Characters that its encoding lacks are written as escapes, such as \\u2581.
    """
    # Only the buffer is written in Python. A signal may raise an exception after each of its calls; if that happened in a raw
    # file, after its system call, the buffer would write the same bytes again.
    buffer = kind(io.FileIO(before.fileno(), "w", closefd=False))
    return io.TextIOWrapper(buffer, before.encoding, "backslashreplace", line_buffering=at_once)


class _Waiting(io.BufferedWriter):
    """A buffer that waits for room in a pipe that another process has made non-blocking."""

    def write(self, data: Any) -> int:
        """Write bytes; return how many were written, all of them."""
        written = 0
        while True:
            try:
                return written + super().write(memoryview(data)[written:])
            except BlockingIOError as error:
                written += error.characters_written
                select.select([], [self.fileno()], [])

    def flush(self) -> None:
        """Write what is in the buffer to the pipe."""
        while True:
            try:
                return super().flush()
            except BlockingIOError:
                select.select([], [self.fileno()], [])


class _Discarding(_Waiting):
    """A buffer that discards what cannot be written: a warning must not stop a command whose log is on a full disk, or a
    pipe that no process reads.
    """

    def write(self, data: Any) -> int:
        """Write bytes; return how many were written or discarded."""
        try:
            return super().write(data)
        except OSError:
            return len(data)

    def flush(self) -> None:
        """Write what is in the buffer, if that is possible."""
        with suppress(OSError):
            super().flush()


def _open_closed_streams() -> None:
    """Open the null device in place of each standard stream that was closed when the process started.

    Otherwise the next file that is opened would get the descriptor of the stream, and be read or written in its
    place. Reading such a stdin and writing to such a stdout fails; output to such a stderr is discarded.
    """
    if sys.stdin is None:
        sys.stdin = open(_null(0, os.O_WRONLY), closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(_null(1, os.O_RDONLY), "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(_null(2, os.O_WRONLY), "w", closefd=False)  # noqa: SIM115


def _null(number: int, mode: int) -> int:
    """Open the null device, as descriptor `number` if it is free; return the descriptor."""
    found = os.open(os.devnull, mode)
    try:
        os.fstat(number)
    except OSError:
        os.dup2(found, number)
        return number
    return found


def end_process(code: int | str | None) -> NoReturn:
    """Run the functions that wait for the interpreter's exit, flush stdout and stderr, and end the process with `code`,
    which has the meanings that `sys.exit` gives it.

    The interpreter's own exit takes tens of milliseconds, which delay the end after Ctrl-C. It is used if threads are
    left that it would wait for, if `code` is a message, or if a stream cannot be flushed.
    """
    waits = any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    if not waits and not isinstance(code, str):
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code or 0)
    sys.exit(code)
