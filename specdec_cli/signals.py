"""SIGINT and SIGTERM: each ends the program once, as an exception that cleans up on its way."""

import os
import signal
import sys
import time
from types import FrameType

_PATIENCE = 1.0
"""Seconds after a signal in which further ones are taken for the same: `timeout` sends each twice."""


class Ending:
    """What a signal does: the first raises, so that half-written files and other processes go away; a later one ends at once.

    SIGINT raises KeyboardInterrupt, SIGTERM SystemExit. `signal` is the one that arrived, None before.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._since = 0.0

    def install(self) -> None:
        """Handle both signals, but for one that the parent process has told us to ignore."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._arrived)

    @property
    def exit_code(self) -> int:
        """The code that shells report for a process that the signal has ended."""
        return 128 + (self.signal or 0)

    def _arrived(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        now = time.monotonic()
        if self.signal is None:
            self.signal, self._since = number, now
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            sys.exit(self.exit_code)
        if now - self._since > _PATIENCE:
            os._exit(self.exit_code)
