"""Handlers of SIGINT and SIGTERM that end the program by an exception, so that it removes its temporary files and processes."""

import os
import signal
import sys
import time
from types import FrameType

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
