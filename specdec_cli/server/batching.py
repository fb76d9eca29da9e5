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
"""Characters of a batch; a batch of so much text takes about 40 ms on one core, and requests that arrive meanwhile wait."""
_RATE = 10_000.0
_KEPT = 0.9


@dataclass(eq=False)
class Job(Generic[R]):
    """The lines of a request, the results of those that are decoded, and the future for all results.

    `taken` is the number of lines that were taken into batches. Lines of a job that `is_cancelled` are not decoded.
    """

    lines: Sequence[str]
    future: "asyncio.Future[list[R]]"
    results: list[R] = field(default_factory=list)
    taken: int = 0
    is_cancelled: bool = False

    @property
    def characters(self) -> int:
        """The number of characters of the lines that no batch has taken yet."""
        return sum(map(len, self.lines[self.taken :]))


class BatchDecoder(Generic[R]):
    """Decodes lines with `decode` in a thread of its own; lines of requests that wait at the same time are one batch.

    A batch has lines of all waiting requests, in equal shares of `most_characters`, at least a line of each of the
    first ones; so a long text does not delay short ones by more than one batch. `on_batch` is called in the thread
    with the number of requests of each batch and the seconds that it took.
    """

    def __init__(
        self,
        decode: Decode[R],
        most_characters: int = MOST_CHARACTERS,
        on_batch: Callable[[int, float], None] = lambda requests, seconds: None,
    ) -> None:
        self._decode, self._most, self._on_batch = decode, most_characters, on_batch
        self._jobs: deque[Job[R]] = deque()
        self._arrived = threading.Condition()
        self._stopped = False
        self._rate = _RATE
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end after its present batch, and wait for that."""
        with self._arrived:
            self._stopped = True
            self._arrived.notify()
        self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    @property
    def backlog_seconds(self) -> float:
        """The time that the lines which wait now will take, estimated from the speed of the last batches."""
        with self._arrived:
            return sum(job.characters for job in self._jobs) / self._rate

    async def decode(self, lines: Sequence[str]) -> list[R]:
        """Decode the lines of a request and return a result for each.

        If the calling task is cancelled, those lines that no batch has taken yet are not decoded. Raises what
        decoding raises.
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
                if self._stopped:
                    return
                batch = self._take()
            if batch:
                self._run(batch)

    def _take(self) -> list[tuple[Job[R], Sequence[str]]]:
        """Take the lines of the next batch; jobs that have more lines go to the end of the queue."""
        jobs = [job for job in self._jobs if not job.is_cancelled]
        batch: list[tuple[Job[R], Sequence[str]]] = []
        left, share, total = [], self._most / max(len(jobs), 1), 0
        for job in jobs:
            first, own = job.taken, 0
            while job.taken < len(job.lines) and own < share and total < self._most:
                own += len(job.lines[job.taken]) + 1
                job.taken += 1
                total += own
            if job.taken > first:
                batch.append((job, job.lines[first : job.taken]))
            if job.taken < len(job.lines):
                left.append((job.taken > first, job))
        self._jobs = deque(job for _, job in sorted(left, key=lambda each: each[0]))
        return batch

    def _run(self, batch: Sequence[tuple[Job[R], Sequence[str]]]) -> None:
        started = time.monotonic()
        lines = [line for _, own in batch for line in own]
        try:
            results = iter(list(zip(lines, self._decode(lines), strict=True)))
            for job, own in batch:
                job.results += [result for _, (_, result) in zip(own, results, strict=False)]
                if len(job.results) == len(job.lines):
                    _settle(job, None)
        except Exception as error:
            for job, _ in batch:
                job.is_cancelled = True
                _settle(job, error)
        seconds = time.monotonic() - started
        speed = sum(map(len, lines)) / max(seconds, 1e-6)
        self._rate = _KEPT * self._rate + (1 - _KEPT) * max(speed, 1.0)
        self._on_batch(len(batch), seconds)


def _settle(job: Job[R], error: Exception | None) -> None:
    """Hand the results of `job`, or the error, to the event loop of its request."""

    def settle() -> None:
        if job.future.done():
            return
        if error is None:
            job.future.set_result(job.results)
        else:
            job.future.set_exception(error)

    with suppress(RuntimeError):  # the event loop is closed
        job.future.get_loop().call_soon_threadsafe(settle)
