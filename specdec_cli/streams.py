"""The standard streams of the process: which of them are open, and what happens to output that cannot be written."""

import io
import os
import select
import sys
from contextlib import suppress
from typing import Any, TextIO


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
