"""Decoding in several threads, each of which uses one thread of PyTorch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Queue
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

import torch

T = TypeVar("T")


@contextmanager
def threads_of_torch(number: int) -> Iterator[None]:
    """Set PyTorch's number of threads to `number` inside the `with` block, and restore it at the end."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Shared(Generic[T]):
    """An iterator for several threads: each item is returned to one of them only."""

    def __init__(self, items: Iterable[T]) -> None:
        self._items, self._lock = iter(items), Lock()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        with self._lock:
            return next(self._items)


class _End:
    """Marks the end of a job in the queue of results, with the exception that ended it, if any."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def in_threads(jobs: Sequence[Callable[[], Iterator[T]]]) -> Iterator[T]:
    """Run each job in a thread with one PyTorch thread, and yield the jobs' results as they arrive, in any order.

    If a job raises an exception, it is raised here after the other jobs have stopped. Closing this generator also
    stops the jobs.
    """
    results: Queue[T | _End] = Queue()
    stopped = Event()
    threads = [Thread(target=_run, args=(job, results, stopped), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            result = results.get()
            if not isinstance(result, _End):
                yield result
            elif result.error is not None:
                raise result.error
            else:
                running -= 1
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def _run(job: Callable[[], Iterator[T]], results: "Queue[T | _End]", stopped: Event) -> None:
    torch.set_num_threads(1)  # applies to this thread only
    try:
        for result in job():
            results.put(result)
            if stopped.is_set():
                break
    except BaseException as error:
        results.put(_End(error))
    else:
        results.put(_End())
