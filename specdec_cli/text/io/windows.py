"""Batching of items (lines) as they arrive: a batch has all items that have arrived, so a slow pipe does not delay
its lines.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import Condition, Thread
from typing import Generic, TypeVar

T = TypeVar("T")
_WINDOWS_AHEAD = 4
"""The reading thread reads ahead at most this many windows."""
EXTENDED = 256
"""The most items of a window, or lines of a shard, that is extended because the last one may continue; or twice its size, if that is more.
"""
_MAX_WAIT = 0.02
"""Seconds to wait for the item after one that may continue."""


def windows(
    items: Iterable[T],
    size: int,
    weigh: Callable[[T], int] = lambda _: 0,
    weight: int = 1,
    goes_on: Callable[[T], bool] = lambda _: False,
) -> Iterator[list[T]]:
    """Yield windows: lists of 1 to `size` items, with all items that have arrived when the window is requested; wait
    for one if none has.

    If the last item may continue in the next one (`goes_on`), the window waits up to 20 ms for that one and may have
    up to `2 * size` items, at least 256. The items of a window have a total weight (by `weigh`) of at most `weight`, or the window
    has one item. A thread reads ahead: it stops while `4 * size` items, or items with a total weight of at least
    `weight`, are waiting, and then has one more item. An exception that iterating over `items` raises is raised here
    after all items before it.
    """
    buffer = _Buffer(items, _WINDOWS_AHEAD * size, weigh, weight, goes_on)
    Thread(target=buffer.read, daemon=True).start()
    while window := buffer.take(size):
        yield window


class _Buffer(Generic[T]):
    """A bounded buffer between the thread that reads items and the thread that takes them."""

    def __init__(self, items: Iterable[T], most: int, weigh: Callable[[T], int], weight: int, goes_on: Callable[[T], bool]) -> None:
        self._items, self._most, self._weigh, self._limit, self._goes_on = items, most, weigh, weight, goes_on
        self._items_ready: deque[tuple[T, int]] = deque()
        self._weight = 0
        self._ended = False
        self._error: BaseException | None = None
        self._changed = Condition()

    def read(self) -> None:
        """Read all items; block while the buffer is full."""
        try:
            for item in self._items:
                heavy = self._weigh(item)
                with self._changed:
                    self._changed.wait_for(self._has_room)
                    self._items_ready.append((item, heavy))
                    self._weight += heavy
                    self._changed.notify()
        except BaseException as error:
            self._error = error
        with self._changed:
            self._ended = True
            self._changed.notify()

    def take(self, size: int) -> list[T]:
        """Block until there is an item, then return up to `size` items; an empty list at the end.

        Raises the exception of the reading thread after all items.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._items_ready or self._ended)
            taken: list[T] = []
            weight = 0
            while self._items_ready and self._wants_more(taken, size) and (not taken or weight + self._items_ready[0][1] <= self._limit):
                item, heavy = self._items_ready.popleft()
                taken.append(item)
                weight += heavy
                if not self._items_ready and self._goes_on(item):
                    self._changed.notify()
                    self._changed.wait_for(lambda: self._items_ready or self._ended, _MAX_WAIT)
            self._weight -= weight
            self._changed.notify()
        if not taken and self._error is not None:
            raise self._error
        return taken

    def _wants_more(self, taken: list[T], size: int) -> bool:
        return len(taken) < size or (len(taken) < max(2 * size, EXTENDED) and self._goes_on(taken[-1]))

    def _has_room(self) -> bool:
        return not self._items_ready or (len(self._items_ready) < self._most and self._weight < self._limit)
