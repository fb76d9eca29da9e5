"""As many lines at a time as are there already, so that neither a pipe nor a batch has to wait."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import Condition, Thread
from typing import Generic, TypeVar

T = TypeVar("T")
_AHEAD = 4
"""Windows of items that are read ahead, at most."""
_PATIENCE = 0.02
"""Seconds to wait for the item after one that may go on."""


def windows(
    items: Iterable[T],
    size: int,
    weigh: Callable[[T], int] = lambda _: 0,
    weight: int = 1,
    goes_on: Callable[[T], bool] = lambda _: False,
) -> Iterator[list[T]]:
    """Lists of 1 to `size` items: all that have arrived by the time the list is asked for.

    A list whose last item may go on in the next one (`goes_on`) waits 20 ms for that item, and has up to `2 * size` items.
    A list of several items is no heavier than `weight`, the sum of `weigh`. A thread reads ahead: at most four lists of
    items, no heavier than `weight` together, and one item. What `items` raises is raised after the items before it.
    """
    arrived = _Arrived(items, _AHEAD * size, weigh, weight, goes_on)
    Thread(target=arrived.read, daemon=True).start()
    while window := arrived.take(size):
        yield window


class _Arrived(Generic[T]):
    """Items that wait between the thread that reads them and the one that takes them."""

    def __init__(self, items: Iterable[T], most: int, weigh: Callable[[T], int], weight: int, goes_on: Callable[[T], bool]) -> None:
        self._items, self._most, self._weigh, self._limit, self._goes_on = items, most, weigh, weight, goes_on
        self._waiting: deque[tuple[T, int]] = deque()
        self._weight = 0
        self._ended = False
        self._error: BaseException | None = None
        self._changed = Condition()

    def read(self) -> None:
        """Read all items, waiting while there are too many, or they are too heavy."""
        try:
            for item in self._items:
                heavy = self._weigh(item)
                with self._changed:
                    self._changed.wait_for(self._has_room)
                    self._waiting.append((item, heavy))
                    self._weight += heavy
                    self._changed.notify()
        except BaseException as error:
            self._error = error
        with self._changed:
            self._ended = True
            self._changed.notify()

    def take(self, size: int) -> list[T]:
        """Wait for an item; with it, up to `size` that are there too. None at the end. Raises what reading raised."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            taken: list[T] = []
            weight = 0
            while self._waiting and self._wants_more(taken, size) and (not taken or weight + self._waiting[0][1] <= self._limit):
                item, heavy = self._waiting.popleft()
                taken.append(item)
                weight += heavy
                if not self._waiting and self._goes_on(item):
                    self._changed.notify()
                    self._changed.wait_for(lambda: self._waiting or self._ended, _PATIENCE)
            self._weight -= weight
            self._changed.notify()
        if not taken and self._error is not None:
            raise self._error
        return taken

    def _wants_more(self, taken: list[T], size: int) -> bool:
        return len(taken) < size or (len(taken) < 2 * size and self._goes_on(taken[-1]))

    def _has_room(self) -> bool:
        return not self._waiting or (len(self._waiting) < self._most and self._weight < self._limit)
