"""Handlers for SIGINT and SIGTERM that let training finish the current update."""

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from specdec_cli.signals import PATIENCE


class StopSignal:
    """Context manager that records SIGINT and SIGTERM: `signal` is the number of the first one received, 0 until then.

    A further signal is ignored if it comes less than PATIENCE seconds after the first, else passed to the previous handler.
    Signals that the process ignored before stay ignored.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._since = 0.0
        self._previous: dict[signal.Signals, Callable[[int, FrameType | None], Any] | int | None] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._arrived)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._restore()

    def _arrived(self, number: int, _: FrameType | None) -> None:
        now = time.monotonic()
        if not self.signal:
            self.signal, self._since = number, now
        elif now - self._since >= PATIENCE:
            self._restore()
            signal.raise_signal(signal.Signals(number))

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()
