"""The standard streams of the process: which of them are open, and what happens to output that cannot be written."""

import io
import os
import sys
from typing import Any, TextIO


def prepare_streams() -> None:
    """Open the standard streams that are closed, and buffer stdout and stderr; what cannot be written to stderr is discarded.

    Without a buffer (PYTHONUNBUFFERED), Python writes as much as fits on the disk and drops the rest without an error.
    """
    _open_closed_streams()
    at_once = isinstance(sys.stdout.buffer, io.RawIOBase) or sys.stdout.isatty()
    sys.stdout = _buffered(io.FileIO(sys.stdout.fileno(), "w", closefd=False), sys.stdout, at_once)
    sys.stderr = _buffered(_Discarding(sys.stderr.fileno(), "w", closefd=False), sys.stderr, True)


def _buffered(raw: io.FileIO, before: TextIO, at_once: bool) -> TextIO:
    """A stream that writes to `raw`, in the place of `before`; `at_once`: at each end of a line."""
    return io.TextIOWrapper(io.BufferedWriter(raw), before.encoding, before.errors, line_buffering=at_once)


class _Discarding(io.FileIO):
    """A file that discards what cannot be written to it: a warning must not stop a command whose log is on a full disk, or
    a pipe that no process reads.
    """

    def write(self, data: Any) -> int:
        """Write bytes; return how many were written or discarded."""
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _open_closed_streams() -> None:
    """Open the null device as each of stdin, stdout and stderr that the parent process has closed.

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
