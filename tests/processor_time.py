"""A limit of processor time for code of this process, which also ends a search of a pattern."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise AssertionError, in the main thread, as soon as the process has used `seconds` of processor time.

    `re` looks for signals while it searches, so that a pattern that would run for hours is ended too.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"more than {seconds:g} s of processor time")

    usual = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, usual)
