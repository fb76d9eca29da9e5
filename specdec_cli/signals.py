"""SIGINT and SIGTERM: each ends the program as an exception, which cleans up on its way."""

import os
import signal
import sys
import time
from types import FrameType

PATIENCE = 1.0
"""Seconds after a signal in which further ones are taken for the same: `timeout` sends each twice."""
_DELAY = 0.05
"""Seconds that a signal waits for a running import to end before it takes effect."""
_IMPORT = "<frozen importlib._bootstrap>"


class Ending:
    """What a signal does: the first raises, so that half-written files and other processes go away; a later one ends at once.

    SIGINT raises KeyboardInterrupt, SIGTERM SystemExit. Nothing is raised inside an import, where exceptions are lost or
    become others, but after it. `signal` is the one that arrived, None before. `over` says that the program has done its
    work: a first signal then ends it at once too, since an exception during the interpreter's exit would only be printed.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.over = False
        self._since = 0.0

    def install(self) -> None:
        """Handle both signals, but for one that the parent process has told us to ignore."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._arrived)
        signal.signal(signal.SIGALRM, lambda _, frame: self._raise(frame))

    def finish(self) -> None:
        """Exit with the code that shells report for a process that the signal has ended."""
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
    """Whether a frame is inside an import."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False
