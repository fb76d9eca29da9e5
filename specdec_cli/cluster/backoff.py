"""Pauses after failures, longer after each."""

import time
from collections.abc import Callable


class Backoff:
    """A pause of `shortest` seconds after a failure; if the next try fails too, of twice as many, up to `longest`.

    Failures during a pause belong to the try before it. `clock` returns the time in seconds.
    """

    def __init__(self, shortest: float, longest: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._shortest, self._longest, self._clock = shortest, longest, clock
        self._seconds, self._end = shortest, clock()

    @property
    def waiting(self) -> bool:
        """Whether a pause is under way."""
        return self._clock() < self._end

    def fail(self) -> None:
        """Begin a pause, unless one is under way."""
        if not self.waiting:
            self._end = self._clock() + self._seconds
            self._seconds = min(2 * self._seconds, self._longest)

    def succeed(self) -> None:
        """Make the next pause a short one."""
        self._seconds = self._shortest
