"""As many lines at a time as are there already, so that neither a pipe nor a batch has to wait."""

from collections.abc import Iterable, Iterator
from queue import Empty, Queue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def windows(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of 1 to `size` items: all that have arrived by the time the list is asked for.

    A thread reads ahead, at most four windows. What `items` raises is raised after the items before it.
    """
    arrived: Queue[T | _End] = Queue(maxsize=4 * size)
    Thread(target=_read, args=(items, arrived), daemon=True).start()
    while True:
        window: list[T] = []
        end = _fill(window, arrived, size)
        if window:
            yield window
        if end is not None:
            if end.error is not None:
                raise end.error
            return


class _End:
    """Stands after the last item, with the error that ended the reading, if any."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def _read(items: Iterable[T], arrived: "Queue[T | _End]") -> None:
    try:
        for item in items:
            arrived.put(item)
    except BaseException as error:
        arrived.put(_End(error))
    else:
        arrived.put(_End())


def _fill(window: list[T], arrived: "Queue[T | _End]", size: int) -> _End | None:
    """Wait for one item, then take what else is there; the end, if it came."""
    try:
        while len(window) < size:
            item = arrived.get() if not window else arrived.get_nowait()
            if isinstance(item, _End):
                return item
            window.append(item)
    except Empty:
        pass
    return None
