"""Decoding of the lines of many requests together, in one thread."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

R = TypeVar("R")
Decode = Callable[[Sequence[str]], Iterable[R]]
"""Decodes lines and returns a result for each, in order."""
MOST_CHARACTERS = 1500
"""Characters of a batch; requests that arrive meanwhile wait for the time that it takes, about 40 ms on one core."""
_LEAST_CHARACTERS = 200
_GATHERING = 0.001
"""Seconds that a thread waits for more lines where few wait and another thread is busy: lines cost less in larger batches."""
_RATE = 10_000.0
_KEPT = 0.9


def _ignore(requests: int, seconds: float) -> None:
    """Do nothing with the numbers of a batch."""


class Abandoned(Exception):
    """An error: no request waits for the lines of a batch any more."""


@dataclass(eq=False)
class Job(Generic[R]):
    """The lines of a request, their results by index, and the future for all of them.

    `taken` is the number of lines that were taken into batches. Lines of a job that `is_cancelled` are not decoded.
    """

    lines: Sequence[str]
    future: "asyncio.Future[list[R]]"
    results: dict[int, R] = field(default_factory=dict)
    taken: int = 0
    is_cancelled: bool = False

    @property
    def characters(self) -> int:
        """The number of characters of the lines that no batch has taken yet."""
        return sum(map(len, self.lines[self.taken :]))


Batch = list[tuple[Job[R], range]]
"""Jobs with the indices of their lines in a batch."""


class BatchDecoder(Generic[R]):
    """Decodes lines with `decode` in threads of its own; lines of requests that wait at the same time are one batch.

    A batch has lines of all waiting requests in equal shares, up to `most_characters` and at least one line; so a
    long text does not delay short ones by more than one batch. `decode` is called by `threads` threads at the same
    time. `on_batch` is called in a thread with the number of requests of each batch and the seconds that it took.
    """

    def __init__(
        self,
        decode: Decode[R],
        threads: int = 1,
        most_characters: int = MOST_CHARACTERS,
        on_batch: Callable[[int, float], None] = _ignore,
    ) -> None:
        self._decode, self._most, self._on_batch = decode, most_characters, on_batch
        self._jobs: deque[Job[R]] = deque()
        self._arrived = threading.Condition()
        self._stopped = False
        self._busy = 0
        self._rate = _RATE * threads
        self._running = threading.local()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let the threads end after their present batches, and wait for that."""
        with self._arrived:
            self._stopped = True
            self._arrived.notify_all()
        for thread in self._threads:
            thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether all threads run."""
        return all(thread.is_alive() for thread in self._threads)

    @property
    def backlog_seconds(self) -> float:
        """The time that the lines which wait now will take, estimated from the speed of the last batches."""
        with self._arrived:
            return self._waiting / self._rate

    def check(self) -> None:
        """Raise Abandoned if the calling thread decodes a batch for which no request waits any more; decoding may call this."""
        batch: Batch[R] = getattr(self._running, "batch", [])
        if batch and all(job.is_cancelled for job, _ in batch):
            raise Abandoned

    async def decode(self, lines: Sequence[str]) -> list[R]:
        """Decode the lines of a request and return a result for each.

        If the calling task is cancelled, those lines that no batch has taken yet are not decoded, and a batch in
        which all lines are of cancelled tasks ends. Raises what decoding raises.
        """
        if not lines:
            return []
        job: Job[R] = Job(lines, asyncio.get_running_loop().create_future())
        with self._arrived:
            self._jobs.append(job)
            self._arrived.notify()
        try:
            return await job.future
        finally:
            job.is_cancelled = True

    def _work(self) -> None:
        while True:
            with self._arrived:
                while not (self._stopped or self._jobs):
                    self._arrived.wait()
                if self._busy:
                    self._arrived.wait_for(lambda: self._stopped or self._waiting >= _LEAST_CHARACTERS, _GATHERING)
                if self._stopped:
                    return
                batch = self._take()
                self._busy += 1
            if batch:
                self._run(batch)
            with self._arrived:
                self._busy -= 1

    @property
    def _waiting(self) -> int:
        """The number of characters that no batch has taken yet."""
        return sum(job.characters for job in self._jobs)

    def _take(self) -> Batch[R]:
        """Take the lines of the next batch; jobs that have more lines go to the end of the queue.

        The threads share what waits, unless that is little.
        """
        jobs = [job for job in self._jobs if not job.is_cancelled]
        waiting = sum(job.characters for job in jobs)
        most = min(self._most, max(_LEAST_CHARACTERS, waiting / len(self._threads)))
        share, total = most / max(len(jobs), 1), 0
        batch: Batch[R] = []
        for job in jobs:
            first, own = job.taken, 0
            while job.taken < len(job.lines) and own < share and total < most:
                own += len(job.lines[job.taken]) + 1
                total += len(job.lines[job.taken]) + 1
                job.taken += 1
            if job.taken > first:
                batch.append((job, range(first, job.taken)))
        begun = {id(job) for job, _ in batch}
        self._jobs = deque(sorted((job for job in jobs if job.taken < len(job.lines)), key=lambda job: id(job) in begun))
        if self._jobs:
            self._arrived.notify()
        return batch

    def _run(self, batch: Batch[R]) -> None:
        started = time.monotonic()
        # The results come in order, so short lines first: their requests are answered while the others are decoded.
        places = sorted(((job, index) for job, own in batch for index in own), key=lambda place: len(place[0].lines[place[1]]))
        lines = [job.lines[index] for job, index in places]
        self._running.batch = batch
        try:
            for (job, index), result in zip(places, self._decode(lines), strict=True):
                job.results[index] = result
                if len(job.results) == len(job.lines):
                    _settle(job, None)
        except Abandoned:
            return
        except Exception as error:
            for job, _ in batch:
                job.is_cancelled = True
                _settle(job, error)
            return
        seconds = time.monotonic() - started
        speed = len(self._threads) * sum(map(len, lines)) / max(seconds, 1e-6)
        self._rate = _KEPT * self._rate + (1 - _KEPT) * max(speed, 1.0)
        self._on_batch(len(batch), seconds)


def _settle(job: Job[R], error: Exception | None) -> None:
    """Hand the results of `job`, or the error, to the event loop of its request."""

    def settle() -> None:
        if job.future.done():
            return
        if error is None:
            job.future.set_result([job.results[index] for index in range(len(job.lines))])
        else:
            job.future.set_exception(error)

    with suppress(RuntimeError):  # the event loop is closed
        job.future.get_loop().call_soon_threadsafe(settle)
