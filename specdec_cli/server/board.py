"""What a process shows of its work to another one that watches it, also while it cannot answer: a small memory that both share.

A count for each request says how many steps of the process work on it now. Most requests wait, for their turn or for the end of a batch, so
when the process stops to answer, few of them can be the cause. A beat says that the event loop of the process runs.
"""

import asyncio
import threading
import types
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from mmap import mmap
from typing import Any, TypeVar

T = TypeVar("T")
SLOTS = 4096
"""Requests have numbers from 0 to one less than this; there are fewer connections."""
SIZE = SLOTS + 1
"""Bytes of the memory: the counts of requests, and the beat."""


class Board:
    """The memory, in a file: written by one process, in several threads, and read by another one."""

    def __init__(self, file: int) -> None:
        self._bytes = mmap(file, SIZE)
        self._writing = threading.Lock()

    @property
    def beat(self) -> int:
        """A value that changes while the event loop of the process runs."""
        return self._bytes[SLOTS]

    def change_beat(self) -> None:
        """Change the beat."""
        self._bytes[SLOTS] = (self._bytes[SLOTS] + 1) % 256

    def is_at_work(self, number: int) -> bool:
        """Whether a step of the process works on a request."""
        return self._bytes[number] > 0

    def add(self, number: int, steps: int) -> None:
        """Count `steps` more that work on a request."""
        with self._writing:
            self._bytes[number] += steps


class ShownRequest:
    """A request whose work is shown on a board."""

    def __init__(self, board: Board, number: int) -> None:
        self._board, self._number = board, number

    def begin(self) -> None:
        """Show that a step begins that works on the request."""
        self._board.add(self._number, 1)

    def end(self) -> None:
        """Show that such a step has ended."""
        self._board.add(self._number, -1)


REQUEST: ContextVar[ShownRequest | None] = ContextVar("REQUEST", default=None)
"""The request for which this task or thread works, None if its work is not shown."""


@contextmanager
def at_work(requests: Iterable[ShownRequest | None]) -> Iterator[None]:
    """Show inside the block that this thread works on `requests`."""
    shown = [request for request in requests if request is not None]
    for request in shown:
        request.begin()
    try:
        yield
    finally:
        for request in shown:
            request.end()


async def in_thread(function: Callable[[], T]) -> T:
    """Return what `function` returns in a thread, which is shown to work on the request of this task."""

    def run() -> T:
        with at_work([REQUEST.get()]):
            return function()

    return await asyncio.to_thread(run)


def make_task(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **options: Any) -> "asyncio.Task[Any]":
    """Make a task each of whose steps is shown to work on the request of the task that makes it: a factory of tasks for event loops."""
    request = REQUEST.get()
    return asyncio.Task(coroutine if request is None else _shown(coroutine, request), loop=loop, **options)


async def _shown(coroutine: Coroutine[Any, Any, T], request: ShownRequest) -> T:
    return await _steps(coroutine, request)


@types.coroutine
def _steps(coroutine: Coroutine[Any, Any, T], request: ShownRequest) -> Generator[Any, Any, T]:
    """Run a coroutine as `await` does, with each step between two waits shown."""
    step: Callable[[], Any] = partial(coroutine.send, None)
    while True:
        request.begin()
        try:
            waited = step()
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            request.end()
        try:
            step = partial(coroutine.send, (yield waited))
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:
            step = partial(coroutine.throw, error)
