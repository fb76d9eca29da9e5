"""Lines of many requests are decoded together, in a fair order, and each result goes to its request."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.server import queue
from specdec_cli.server.queue import BatchDecoder, Overloaded, Pool, work_of

TEXTS = st.lists(st.lists(st.text("abc", max_size=12), max_size=6), min_size=1, max_size=6)


def capitals(lines: Sequence[str]) -> list[str]:
    return [line.upper() for line in lines]


def work_in(pool: Pool, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `work` in an event loop; all requests of its first step wait before the threads of `pool` start."""

    async def run() -> None:
        task = asyncio.ensure_future(work())
        for _ in range(3):
            await asyncio.sleep(0)
        pool.start()
        await task

    try:
        asyncio.run(run())
    finally:
        pool.stop()


@given(TEXTS, st.integers(1, 3), st.integers(1, 20))
def test_each_request_gets_the_results_of_its_lines(requests: list[list[str]], threads: int, most: int) -> None:
    pool = Pool(threads, most_work=most)
    decoders = [BatchDecoder(capitals, pool), BatchDecoder(capitals, pool, 1)]

    async def decode_all() -> None:
        found = await asyncio.gather(*(decoders[index % 2].decode(lines) for index, lines in enumerate(requests)))
        assert found == [capitals(lines) for lines in requests]

    work_in(pool, decode_all)
    assert not pool.is_alive
    assert (pool.backlog.characters, pool.backlog.requests, pool.backlog.seconds) == (0, 0, 0)


def recorded(requests: Sequence[Sequence[str]], most: int) -> list[list[str]]:
    """The batches in which requests that wait at the same time are decoded."""
    batches: list[list[str]] = []

    def decode(lines: Sequence[str]) -> list[str]:
        batches.append(list(lines))
        return list(lines)

    pool = Pool(most_work=most)
    decoder = BatchDecoder(decode, pool)

    async def decode_all() -> None:
        await asyncio.gather(*map(decoder.decode, requests))

    work_in(pool, decode_all)
    return batches


def test_requests_that_wait_are_one_batch() -> None:
    assert recorded([["a"], ["b"], ["c", "d"]], 100) == [["a", "b", "c", "d"]]


def test_a_long_request_does_not_delay_short_ones() -> None:
    long = [letter * 92 for letter in "abcdef"]
    batches = recorded([long, ["x"], ["y"]], 200)
    assert batches[0] == ["x", "y", long[0], long[1]]
    assert [line for batch in batches for line in batch if len(line) > 1] == long


def test_batches_of_slow_machines_are_smaller() -> None:
    sizes: list[int] = []

    def decode(lines: Sequence[str]) -> list[str]:
        sizes.append(work_of(lines))
        return list(lines)

    pool = Pool(clock=lambda: 0.0)
    slow, fast = BatchDecoder(decode, pool), BatchDecoder(decode, pool)
    slow.learn(10_000, 5)

    async def decode_all() -> None:
        await slow.decode(["a" * 92] * 30)
        await fast.decode(["a" * 92] * 30)

    assert slow.rate == pytest.approx(10_900 / 5.09)
    work_in(pool, decode_all)
    assert sizes[0] == 600 and max(sizes) == 1500


def test_long_requests_are_decoded_in_their_order_of_arrival() -> None:
    batches = recorded([[letter * 300, letter * 301] for letter in "abcdef"], 200)
    assert [line[0] for batch in batches for line in batch] == list("aabbccddeeff")


def test_short_requests_get_a_quarter_of_the_work_before_earlier_ones() -> None:
    long, short = [["a" * 92] * 60, *(["b" * 17] for _ in range(40))], "b" * 17
    done = [(sum(map(len, batch)), batch.count(short)) for batch in recorded(long, 400)]
    assert [count for _, count in done[:10]] == [4] * 10
    assert all(count * work_of([short]) <= 100 for _, count in done)


def test_lines_of_a_cancelled_request_are_not_decoded() -> None:
    begun, may_end = threading.Event(), threading.Event()
    decoded: list[str] = []

    def decode(lines: Sequence[str]) -> list[str]:
        begun.set()
        assert may_end.wait(60)
        decoded.extend(lines)
        return list(lines)

    pool = Pool()
    decoder = BatchDecoder(decode, pool)

    async def run() -> None:
        first = asyncio.ensure_future(decoder.decode(["a"]))
        await asyncio.to_thread(begun.wait)
        second, third = (asyncio.ensure_future(decoder.decode([text])) for text in "bc")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        may_end.set()
        assert (await first, await third) == (["a"], ["c"])

    work_in(pool, run)
    assert decoded == ["a", "c"]


@pytest.mark.parametrize(("texts", "left", "finished"), [("a", "a", "z"), ("bc", "b", "bcz"), ("bc", "bc", "z")])
def test_a_batch_that_no_request_waits_for_ends(texts: str, left: str, finished: str) -> None:
    begun, may_end = threading.Event(), threading.Event()
    decoded: list[str] = []

    def decode(lines: Sequence[str]) -> list[str]:
        begun.set()
        assert may_end.wait(60)
        decoder.check()
        decoded.extend(lines)
        return list(lines)

    pool = Pool()
    decoder = BatchDecoder(decode, pool)

    async def run() -> None:
        tasks = {text: asyncio.ensure_future(decoder.decode([text])) for text in texts}
        await asyncio.to_thread(begun.wait)
        for text in left:
            tasks[text].cancel()
        await asyncio.sleep(0)
        may_end.set()
        await asyncio.wait(tasks.values())
        assert await decoder.decode(["z"]) == ["z"]

    work_in(pool, run)
    assert "".join(decoded) == finished


def test_a_request_whose_decoding_fails_or_ends_early_gets_the_error() -> None:
    def decode(lines: Sequence[str]) -> list[str]:
        if "bad" in lines:
            raise ValueError("no")
        return list(lines) if "few" not in lines else []

    pool = Pool()
    decoder = BatchDecoder(decode, pool)

    async def run() -> None:
        for text in ("bad", "few"):
            with pytest.raises(ValueError, match=r"no|shorter"):
                await decoder.decode([text])
        assert await decoder.decode(["good"]) == ["good"]
        assert pool.is_alive

    work_in(pool, run)
    assert pool.backlog.seconds == 0


@pytest.mark.parametrize("late", [False, True], ids=["no result before the error", "results before the error"])
def test_the_fault_of_a_line_fails_the_request_of_that_line_alone(late: bool) -> None:
    batches: list[list[str]] = []

    def decode(lines: Sequence[str]) -> Iterator[str]:
        batches.append(list(lines))
        if "bad" in lines and not late:
            raise ValueError("no")
        for line in lines:
            if line == "bad":
                raise ValueError("no")
            yield line.upper()

    pool = Pool()
    decoder = BatchDecoder(decode, pool)

    async def run() -> None:
        requests = ["good"], ["bad", "not this one"], ["x", "long enough to come later"], ["bad"], ["y"]
        found = await asyncio.gather(*map(decoder.decode, requests), return_exceptions=True)
        expected = [["GOOD"], "no", ["X", "LONG ENOUGH TO COME LATER"], "no", ["Y"]]
        assert [each if isinstance(each, list) else str(each) for each in found] == expected

    work_in(pool, run)
    first, *others = batches
    assert sorted(first) == sorted(["good", "bad", "not this one", "x", "long enough to come later", "bad", "y"])
    if late:  # lines that have a result, "x" and "y", are not decoded again
        assert others == [["good"], ["bad", "not this one"], ["long enough to come later"], ["bad"]]
    else:
        assert others == [["good"], ["bad", "not this one"], ["x", "long enough to come later"], ["bad"], ["y"]]
    assert pool.backlog.requests == 0


def waiting(decoder: BatchDecoder[str], *requests: Sequence[str]) -> list[asyncio.Future[list[str]]]:
    """Start to decode requests."""
    return [asyncio.ensure_future(decoder.decode(lines)) for lines in requests]


async def ended(tasks: Sequence[asyncio.Future[list[str]]]) -> list[float]:
    """Cancel those of `tasks` that wait, and return the times after which the refused ones may be tried again."""
    errors = [task.exception() for task in tasks if task.done()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return [error.seconds for error in errors if isinstance(error, Overloaded)]


def test_the_backlog_is_the_text_that_waits() -> None:
    async def run() -> None:
        pool = Pool(2)
        first, second = BatchDecoder(capitals, pool), BatchDecoder(capitals, pool, 1)
        tasks = waiting(first, ["a" * 92] * 100) + waiting(second, ["b" * 92] * 100, ["c"])
        await asyncio.sleep(0)
        assert (pool.backlog.characters, pool.backlog.requests) == (18_401, 3)
        assert pool.backlog.seconds == pytest.approx(0.5 + 1 + 0.0009)
        await ended(tasks)
        assert (pool.backlog.characters, pool.backlog.requests, pool.backlog.seconds) == (0, 0, 0)

    asyncio.run(run())


@pytest.mark.parametrize(("longest", "samples"), [(60.0, 2), (-1.0, 1)])
def test_the_speed_is_measured_in_all_threads(longest: float, samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    together, calls = threading.Barrier(3), list[int]()

    def decode(lines: Sequence[str]) -> list[str]:
        if len(lines) > 2:
            together.wait(60)
        calls.append(len(lines))
        return list(lines)

    monkeypatch.setattr(queue, "_LONG_SAMPLE", longest)
    decoder = BatchDecoder(decode, Pool(3))
    before = decoder.rate
    decoder.measure()
    assert calls == [2, *[6] * 3, *[24] * 3][: 1 + 3 * samples] and decoder.rate != before


def test_requests_that_would_wait_too_long_are_refused_at_once() -> None:
    async def run() -> None:
        decoder = BatchDecoder(capitals, Pool(limit=4 / 3))
        long = ["a" * 92] * 25  # a quarter of a second
        refused = await ended([*waiting(decoder, *[long] * 60), *await started(decoder, ["b"])])
        assert refused == [pytest.approx(1)] * 56

    async def started(decoder: BatchDecoder[str], *requests: Sequence[str]) -> list[asyncio.Future[list[str]]]:
        await asyncio.sleep(0)
        tasks = waiting(decoder, *requests)
        await asyncio.sleep(0)
        return tasks

    asyncio.run(run())


def test_a_request_is_admitted_if_nothing_waits() -> None:
    async def run() -> None:
        decoder = BatchDecoder(capitals, Pool(limit=4 / 3))
        tasks = waiting(decoder, ["a" * 92] * 1000, ["a" * 92] * 10)
        for _ in range(3):
            await asyncio.sleep(0)
        assert await ended(tasks) == [pytest.approx(10)]
        tasks = waiting(decoder, ["a" * 92] * 10, ["a" * 92] * 80)  # the work of those that were cancelled is free again
        await asyncio.sleep(0)
        assert await ended(tasks) == []

    asyncio.run(run())


def test_requests_that_turn_out_to_be_too_late_are_refused_before_they_are_begun() -> None:
    now, decoded = 0.0, list[str]()

    def decode(lines: Sequence[str]) -> list[str]:
        nonlocal now
        now += work_of(lines) / 2_000  # a fifth of what is expected
        decoded.extend(lines)
        return list(lines)

    pool = Pool(limit=4, clock=lambda: now)
    decoder = BatchDecoder(decode, pool)

    async def run() -> None:
        long = [[letter * 92] * 40 for letter in "abcdefg"]
        found = await asyncio.gather(*(decoder.decode(lines) for lines in [*long, ["short"]]), return_exceptions=True)
        done = [isinstance(each, list) for each in found]
        assert 1 <= sum(done) < 4 and done == [*sorted(done[:-1], reverse=True), True]
        assert {line[0] for line in decoded} == {line[0] for line, is_done in zip("abcdefgs", done, strict=True) if is_done}
        refused = [each for each in found if isinstance(each, Overloaded)]
        assert len(refused) + sum(done) == 8 and all(each.seconds > 0 for each in refused)

    work_in(pool, run)
    assert pool.backlog.requests == 0


def test_there_is_room_for_short_requests_behind_long_ones() -> None:
    async def run() -> None:
        decoder = BatchDecoder(capitals, Pool(limit=4 / 3))
        tasks = waiting(decoder, ["a" * 92] * 100, *[["b" * 92] * 4] * 20)
        for _ in range(3):
            await asyncio.sleep(0)
        assert len(await ended(tasks)) == 14  # there is room for a quarter of a second

    asyncio.run(run())


class Simulation:
    """Two decoders of `rate` units of work a second, whose time is simulated; requests that arrive in that time are sent in its course."""

    def __init__(self, rate: int, limit: float) -> None:
        self._now, self._rate = 0.0, rate
        self._pool = Pool(limit=limit, clock=lambda: self._now)
        self._decoders = [BatchDecoder(self._decode, self._pool) for _ in range(2)]
        for decoder in self._decoders:
            decoder.learn(20 * rate, 20)
        self._later: list[tuple[float, int, list[str]]] = []
        self._tasks: list[asyncio.Task[float]] = []

    def _decode(self, lines: Sequence[str]) -> list[str]:
        self._in_loop(self._step())
        self._now += work_of(lines) / self._rate
        while self._later and self._later[0][0] <= self._now:
            self._in_loop(self._send(*self._later.pop(0)[1:]))
        return list(lines)

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _step(self) -> None:
        for _ in range(5):  # requests whose results have come are answered
            await asyncio.sleep(0)

    async def _send(self, decoder: int, lines: list[str]) -> None:
        self._tasks.append(asyncio.create_task(self._ask(self._decoders[decoder], lines, self._now)))
        await self._step()

    async def _ask(self, decoder: BatchDecoder[str], lines: list[str], sent: float) -> float:
        await decoder.decode(lines)
        return self._now - sent

    def run(self, first: Sequence[tuple[int, list[str]]], later: Sequence[tuple[float, int, list[str]]]) -> list[float | None]:
        """Send the requests `first` (number of a decoder, lines), and `later` ones at their times. Returns the seconds until the answer
        of each request; None if it was refused.
        """
        self._later = list(later)

        async def work() -> None:
            self._loop = asyncio.get_running_loop()
            for request in first:
                await self._send(*request)
            self._pool.start()
            while unfinished := [task for task in self._tasks if not task.done()]:
                await asyncio.wait(unfinished)

        try:
            asyncio.run(work())
        finally:
            self._pool.stop()
        assert all(isinstance(task.exception(), Overloaded | None) for task in self._tasks)
        return [None if task.exception() else task.result() for task in self._tasks]


@pytest.mark.parametrize("decoders", [(0, 0, 0, 0), (0, 1, 0, 1), (0, 0, 1, 0), (0, 0, 0, 1)])
def test_what_is_admitted_is_answered_in_time_and_short_texts_soon(decoders: tuple[int, ...]) -> None:
    long, short = ["a" * 117] * 30, ["b" * 30]
    first = [(decoders[number % 2], long) for number in range(60)]
    later = [(0.4 * number, decoder, lines) for number in range(1, 26) for decoder, lines in zip(decoders[2:], (short, long), strict=True)]
    seconds = Simulation(rate=5_000, limit=10).run(first, later)
    assert [each is not None for each in seconds[:60]] == [True] * 10 + [False] * 50
    answered = [each for each in seconds if each is not None]
    assert seconds[:10] == sorted(answered[:10]) and max(answered) <= 10
    assert max(each or 10 for each in seconds[60::2]) < 1  # the short ones
