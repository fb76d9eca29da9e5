"""Decoding of the lines of many requests together: the queue, its order and its limit, and the threads that decode batches."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, Generic, TypeVar

from specdec_cli.server.board import REQUEST, ShownRequest, at_work, in_thread

R = TypeVar("R")
Decode = Callable[[Sequence[str]], Iterable[R]]
"""Decodes lines and returns a result for each, in order."""
MOST_WORK = 1500
"""The work of a batch at most (see `work_of`); requests that arrive meanwhile wait for the time that it takes, about 0.1 s on one core."""
SHORT = 400
"""A request of at most this much work is short: part of each batch is kept for short requests, which need not wait for longer ones."""
_BATCH_SECONDS = 0.25
"""Longest time of a batch, by the speed of the last ones; a slow machine has smaller batches."""
_LEAST_WORK = 200
_LINE = 8  # characters whose decoding takes as long as what a line takes besides its characters, by measurement
_SHARE = 0.25
_GATHERING = 0.001
"""Seconds that a thread waits for more lines where few wait and another thread is busy: lines cost less in larger batches."""
_RATE = 10_000.0
_KEPT = 0.9
_LONG_SAMPLE = 0.25
"""Seconds; if a first sample takes longer, the speed is not measured with a larger one, which is more like the batches of a full queue."""
_SAMPLE = (
    "The children are playing in the garden behind the house.",
    "I do not know why the train was late again this morning.",
    "Please send me the letter, and tell your brother about it.",
    "She bought three books, two of which she has read already.",
    "It was raining all day long, so we stayed at home and played.",
    "Nobody knows how long the repair of the old bridge will take.",
)


def work_of(lines: Iterable[str]) -> int:
    """The work of decoding lines: their characters, and 8 for each line."""
    return sum(len(line) + _LINE for line in lines)


class Abandoned(Exception):
    """An error: no request waits for the lines of a batch any more."""


class Overloaded(Exception):
    """An error: so much waits that a request could not be answered in time. `seconds` is the time that what waits will take."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass(frozen=True)
class Backlog:
    """What waits or is being decoded: characters, requests, and the seconds that it will take, by the speed of the last batches."""

    characters: int
    requests: int
    seconds: float


@dataclass(eq=False)
class Job(Generic[R]):
    """The lines of a request for `decoder`, their results by index, and the future for all of them.

    `taken` is the number of lines that were taken into batches, and `left` the work of the others. `arrived` is the time of the clock when
    it came into the queue. Lines of a job that `is_cancelled` are not decoded. `request` shows the work on it.
    """

    decoder: "BatchDecoder[R]"
    lines: Sequence[str]
    future: "asyncio.Future[list[R]]"
    results: dict[int, R] = field(default_factory=dict)
    taken: int = 0
    arrived: float = 0.0
    is_cancelled: bool = False
    request: ShownRequest | None = field(default_factory=REQUEST.get)

    def __post_init__(self) -> None:
        self.left = work_of(self.lines)
        self.is_short = self.left <= SHORT


class _Batch(Generic[R]):
    """Lines of jobs for one decoder, as pairs of a job and indices of its lines, and their work."""

    def __init__(self, decoder: "BatchDecoder[R]") -> None:
        self.decoder, self.work = decoder, 0
        self.parts: list[tuple[Job[R], range]] = []

    @property
    def jobs(self) -> list[Job[R]]:
        """The jobs whose lines are in the batch, without repetitions."""
        return list(dict.fromkeys(job for job, _ in self.parts))

    def take(self, job: Job[R], most: float) -> None:
        """Take lines of `job` until the work of the batch is `most` or more."""
        first = job.taken
        while job.taken < len(job.lines) and self.work < most:
            work = work_of((job.lines[job.taken],))
            self.work += work
            job.left -= work
            job.taken += 1
        if job.taken > first:
            self.parts.append((job, range(first, job.taken)))


class Pool:
    """The queue of all decoders that share the processor cores, and `threads` threads that decode.

    A batch has lines of one decoder, up to `most_work` and at least one line. Requests are decoded in their order of arrival, except that
    a quarter of the work is for short requests that came later. So a long text delays a short one by a few batches, and what waits before
    a request when it arrives delays it by at most 4/3 of its time. A request has `limit` seconds. It is refused when it arrives if what
    waits and its own lines will take more than 3/4 of that, by the speed of the last batches, unless nothing waits. If decoding then is
    slower than expected, requests that are not begun and would be too late are refused later. `clock` returns seconds.
    """

    def __init__(
        self, threads: int = 1, limit: float = inf, most_work: int = MOST_WORK, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit, self._most_work, self._clock = limit, most_work, clock
        self._decoders: list[BatchDecoder[Any]] = []
        self._jobs: list[Job[Any]] = []  # those with lines that no batch has taken, in order of arrival
        self._unfinished: set[Job[Any]] = set()
        self._changed = threading.Condition()
        self._stopped = False
        self._busy = 0
        self._credit = self._most_credit = _SHARE * most_work  # what short requests may be decoded before earlier ones
        self._running = threading.local()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let the threads end after their present batches, and wait for that."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether all threads run."""
        return all(thread.is_alive() for thread in self._threads)

    @property
    def backlog(self) -> Backlog:
        """What waits or is being decoded now."""
        with self._changed:
            unfinished = [len(line) for job in self._unfinished for index, line in enumerate(job.lines) if index not in job.results]
            return Backlog(sum(unfinished), len(self._unfinished), self._seconds(self._jobs))

    def register(self, decoder: "BatchDecoder[Any]") -> int:
        """Add a decoder, and return the number of threads."""
        self._decoders.append(decoder)
        return len(self._threads)

    def add(self, job: Job[Any]) -> None:
        """Add the lines of a request to the queue. Raises Overloaded if they could not be decoded in time."""
        with self._changed:
            job.arrived = self._clock()
            waiting = self._seconds(self._jobs)
            if waiting > 0 and not self._has_room(job, waiting):
                raise Overloaded(waiting)
            self._jobs.append(job)
            self._unfinished.add(job)
            self._changed.notify()

    def remove(self, job: Job[Any]) -> None:
        """Forget a request: lines of it that no batch has taken are not decoded any more."""
        with self._changed:
            job.is_cancelled = True
            self._unfinished.discard(job)
            if job.left:
                self._jobs = [each for each in self._jobs if each is not job]

    def check(self) -> None:
        """Raise Abandoned if the calling thread decodes a batch for which no request waits any more."""
        parts: Sequence[tuple[Job[Any], range]] = getattr(self._running, "parts", ())
        if parts and all(job.is_cancelled for job, _ in parts):
            raise Abandoned

    def _has_room(self, job: Job[Any], waiting: float) -> bool:
        """Whether a request can be decoded in time after `waiting` seconds of work, or, a short one, after the short ones alone."""
        seconds = job.left / job.decoder.rate
        if waiting + seconds <= (1 - _SHARE) * self._limit:
            return True
        short = sum(each.left / each.decoder.rate for each in self._jobs if each.is_short)
        return job.is_short and short + seconds <= _SHARE * (1 - _SHARE) * self._limit

    def _refuse_late(self) -> None:
        """Refuse requests that are not begun and cannot be decoded in time any more, after a quarter of their time: the speed of a few
        batches alone may be an exception. The first one is begun next.
        """
        now, seconds = self._clock(), self._seconds(self._jobs[:1])
        for job in self._jobs[1:]:
            needed, waited = job.left / job.decoder.rate, now - job.arrived
            if waited + seconds + needed > self._limit < 4 * waited and not (job.taken or job.is_short):
                self.remove(job)
                _settle(job, Overloaded(seconds))
            else:
                seconds += needed

    def _seconds(self, jobs: Iterable[Job[Any]]) -> float:
        """The time that `jobs` and the batches that are being decoded will take."""
        return sum(job.left / job.decoder.rate for job in jobs) + sum(each.running_work / each.rate for each in self._decoders)

    def _ready(self) -> list[Job[Any]]:
        """The jobs of those decoders that can decode another batch now, in order of arrival."""
        return [job for job in self._jobs if job.decoder.running < job.decoder.at_once]

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._ready())
                if self._busy:
                    self._changed.wait_for(lambda: self._stopped or sum(job.left for job in self._ready()) >= _LEAST_WORK, _GATHERING)
                if self._stopped:
                    return
                batch = self._take()
                if batch is None:
                    continue
                self._busy += 1
                batch.decoder.running += 1
                batch.decoder.running_work += batch.work
                # A thread that decodes alone is faster than one of many.
                is_full = self._busy == len(self._threads) or batch.decoder.running == batch.decoder.at_once
            seconds = self._run(batch)
            with self._changed:
                self._busy -= 1
                batch.decoder.running -= 1
                batch.decoder.running_work -= batch.work
                if is_full and seconds is not None:
                    batch.decoder.learn(batch.work, seconds)
                    self._refuse_late()
            if seconds is not None:
                batch.decoder.on_batch(len(batch.jobs), seconds)

    def _take(self) -> _Batch[Any] | None:
        """Take the lines of the next batch; None if there are none. The threads share what waits, unless that is little."""
        ready = self._ready()
        if not ready:
            return None
        first = ready[0]
        favoured = [] if first.is_short or self._credit <= 0 else [job for job in ready if job.is_short]
        decoder = (favoured or ready)[0].decoder
        jobs = [job for job in ready if job.decoder is decoder]
        share, quick = sum(job.left for job in jobs) / decoder.at_once, _BATCH_SECONDS * decoder.rate / decoder.at_once
        most = min(self._most_work, max(_LEAST_WORK, min(share, quick)))
        batch = _Batch(decoder)
        for job in favoured:
            if job.decoder is decoder:
                batch.take(job, min(self._credit, most))
        started = batch.work
        if decoder is first.decoder:
            for job in jobs:
                batch.take(job, most)
        in_order = batch.work - started
        self._credit = min(self._most_credit, self._credit - started + in_order * _SHARE / (1 - _SHARE))
        self._jobs = [job for job in self._jobs if job.left]
        if self._jobs:
            self._changed.notify()
        return batch

    def _run(self, batch: _Batch[Any]) -> float | None:
        """Decode a batch and return the seconds that it took; None if it has not been decoded to its end.

        After an exception each of its requests is decoded alone, so that the fault of a line fails the request of that line and no other.
        """
        started = self._clock()
        try:
            self._decode(batch.decoder, batch.parts)
        except Abandoned:
            return None
        except Exception as error:
            jobs = [job for job in batch.jobs if len(job.results) < len(job.lines)]
            for job in jobs:
                self._decode_alone(job, [part for part in batch.parts if part[0] is job], error if len(batch.jobs) == 1 else None)
            return None
        return self._clock() - started

    def _decode(self, decoder: "BatchDecoder[Any]", parts: Sequence[tuple[Job[Any], range]]) -> None:
        """Decode those lines of `parts` that have no results, and settle each job as soon as it has all its results."""
        # The results come in order, so short lines first: their requests are answered while the others are decoded.
        waiting = [(job, index) for job, indices in parts for index in indices if index not in job.results]
        waiting.sort(key=lambda line: len(line[0].lines[line[1]]))
        self._running.parts = parts
        try:
            with at_work(dict.fromkeys(job.request for job, _ in waiting)):
                for (job, index), result in zip(waiting, decoder.run([job.lines[index] for job, index in waiting]), strict=True):
                    job.results[index] = result
                    if len(job.results) == len(job.lines):
                        _settle(job, None)
        finally:
            self._running.parts = ()

    def _decode_alone(self, job: Job[Any], parts: Sequence[tuple[Job[Any], range]], error: Exception | None) -> None:
        """Decode the lines of one job, or, with an error, do not; if it has an error or decoding fails, settle the job with that."""
        if error is None:
            try:
                self._decode(job.decoder, parts)
            except Abandoned:
                pass
            except Exception as failure:
                error = failure
        if error is not None:
            self.remove(job)
            _settle(job, error)


class BatchDecoder(Generic[R]):
    """Decodes lines with `run` in the threads of `pool`, in at most `at_once` of them (None: in all) at the same time.

    `prepare` is called in a thread before lines are decoded, each time. `on_batch` is called in a thread with the number of requests of
    each batch and the seconds that it took.
    """

    def __init__(
        self,
        run: Decode[R],
        pool: Pool,
        at_once: int | None = None,
        on_batch: Callable[[int, float], None] = lambda _requests, _seconds: None,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self.run, self.on_batch = run, on_batch
        self._pool, self._prepare = pool, prepare
        threads = pool.register(self)
        self.at_once = threads if at_once is None else min(at_once, threads)
        self.running = 0
        """The number of batches that are being decoded."""
        self.running_work = 0
        self._learnt = (_RATE / 10, 0.1)

    @property
    def rate(self) -> float:
        """The work that the pool does in a second if it decodes for this decoder alone, by the speed of the last batches."""
        work, seconds = self._learnt
        return self.at_once * work / seconds

    def learn(self, work: int, seconds: float) -> None:
        """Learn from the seconds that the work of a batch took. Small batches take more time for their work than those of a full queue."""
        if work >= _LEAST_WORK:
            before = self._learnt
            self._learnt = _KEPT * before[0] + work, _KEPT * before[1] + max(seconds, 1e-6)

    def measure(self) -> None:
        """Decode a few lines, so that the first request is fast, and learn from others, decoded in all threads, how fast that is."""
        list(self.run(["Hello.", "She have a dog."]))  # the second text has an error, whose type needs the lexicon
        with ThreadPoolExecutor(self.at_once) as threads:
            for lines in (_SAMPLE, 4 * _SAMPLE):
                started = time.monotonic()
                list(threads.map(lambda sample: list(self.run(sample)), [lines] * self.at_once))
                self._learnt = work_of(lines), max(time.monotonic() - started, 1e-6)
                if self._learnt[1] > _LONG_SAMPLE:
                    break

    def check(self) -> None:
        """Raise Abandoned if the calling thread decodes a batch for which no request waits any more; decoding may call this."""
        self._pool.check()

    async def decode(self, lines: Sequence[str]) -> list[R]:
        """Decode the lines of a request and return a result for each.

        If the calling task is cancelled, those lines that no batch has taken yet are not decoded, and a batch in
        which all lines are of cancelled tasks ends. Raises Overloaded, and what decoding raises.
        """
        if not lines:
            return []
        if self._prepare is not None:
            await in_thread(self._prepare)
        job: Job[R] = Job(self, lines, asyncio.get_running_loop().create_future())
        self._pool.add(job)
        try:
            return await job.future
        finally:
            self._pool.remove(job)


def _settle(job: Job[R], error: Exception | None) -> None:
    """Hand the results of `job`, or the error, to the event loop of its request."""
    with suppress(RuntimeError):  # the event loop is closed
        job.future.get_loop().call_soon_threadsafe(partial(_finish, job, error))


def _finish(job: Job[R], error: Exception | None) -> None:
    if job.future.done():
        return
    if error is None:
        job.future.set_result([job.results[index] for index in range(len(job.lines))])
    else:
        job.future.set_exception(error)
