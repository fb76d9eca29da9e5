"""Lines of many requests are decoded together, shared fairly, and each result goes to its request."""

import asyncio
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.server.batching import BatchDecoder

TEXTS = st.lists(st.lists(st.text("abc", max_size=12), max_size=6), min_size=1, max_size=6)


def capitals(lines: Sequence[str]) -> list[str]:
    return [line.upper() for line in lines]


async def decode_all(decoder: BatchDecoder[str], requests: Sequence[Sequence[str]]) -> list[list[str]]:
    return await asyncio.gather(*(decoder.decode(lines) for lines in requests))


@given(TEXTS, st.integers(1, 3), st.integers(1, 20))
def test_each_request_gets_the_results_of_its_lines(requests: list[list[str]], threads: int, most: int) -> None:
    decoder = BatchDecoder(capitals, threads, most)
    decoder.start()
    try:
        assert asyncio.run(decode_all(decoder, requests)) == [capitals(lines) for lines in requests]
    finally:
        decoder.stop()
    assert not decoder.is_alive


def recorded(requests: Sequence[Sequence[str]], most: int) -> list[list[str]]:
    """The batches in which requests that wait at the same time are decoded."""
    batches: list[list[str]] = []

    def decode(lines: Sequence[str]) -> list[str]:
        batches.append(list(lines))
        return list(lines)

    async def run() -> None:
        decoder = BatchDecoder(decode, 1, most)
        tasks = [asyncio.ensure_future(decoder.decode(lines)) for lines in requests]
        await asyncio.sleep(0)  # all requests wait now
        decoder.start()
        await asyncio.gather(*tasks)
        decoder.stop()

    asyncio.run(run())
    return batches


def test_requests_that_wait_are_one_batch() -> None:
    assert recorded([["a"], ["b"], ["c", "d"]], 100) == [["a", "b", "c", "d"]]


def test_a_long_request_does_not_delay_short_ones() -> None:
    long = [letter * 90 for letter in "abcdef"]
    batches = recorded([long, ["x"], ["y"]], 200)
    assert batches[0] == ["x", "y", long[0]]
    assert [line for batch in batches for line in batch if len(line) > 1] == long


def test_more_requests_than_fit_take_turns() -> None:
    batches = recorded([[letter * 50, letter * 60] for letter in "abcdef"], 200)
    first = [line[0] for batch in batches for line in batch][:6]
    assert first == list("abcdef")


def test_lines_of_a_cancelled_request_are_not_decoded() -> None:
    begun, may_end = threading.Event(), threading.Event()
    decoded: list[str] = []

    def decode(lines: Sequence[str]) -> list[str]:
        begun.set()
        assert may_end.wait(60)
        decoded.extend(lines)
        return list(lines)

    async def run() -> None:
        decoder = BatchDecoder(decode)
        decoder.start()
        first = asyncio.ensure_future(decoder.decode(["a"]))
        await asyncio.to_thread(begun.wait)
        second, third = (asyncio.ensure_future(decoder.decode([text])) for text in "bc")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        may_end.set()
        assert (await first, await third) == (["a"], ["c"])
        decoder.stop()

    asyncio.run(run())
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

    decoder = BatchDecoder(decode)

    async def run() -> None:
        tasks = {text: asyncio.ensure_future(decoder.decode([text])) for text in texts}
        await asyncio.sleep(0)  # all requests wait now
        decoder.start()
        await asyncio.to_thread(begun.wait)
        for text in left:
            tasks[text].cancel()
        await asyncio.sleep(0)
        may_end.set()
        await asyncio.wait(tasks.values())
        assert await decoder.decode(["z"]) == ["z"]
        decoder.stop()

    asyncio.run(run())
    assert "".join(decoded) == finished


def test_an_error_goes_to_the_requests_of_its_batch_alone() -> None:
    def decode(lines: Sequence[str]) -> list[str]:
        if "bad" in lines:
            raise ValueError("no")
        return list(lines) if "few" not in lines else []

    async def run() -> None:
        decoder = BatchDecoder(decode)
        decoder.start()
        for text in ("bad", "few"):
            with pytest.raises(ValueError, match=r"no|shorter"):
                await decoder.decode([text])
        assert await decoder.decode(["good"]) == ["good"]
        assert decoder.is_alive
        decoder.stop()

    asyncio.run(run())


def test_the_backlog_is_the_text_that_waits() -> None:
    async def run() -> None:
        decoder = BatchDecoder(capitals)
        waiting = asyncio.ensure_future(decoder.decode(["a" * 100_000]))
        await asyncio.sleep(0)
        assert decoder.backlog_seconds == pytest.approx(10)
        decoder.start()
        await waiting
        assert decoder.backlog_seconds == 0
        decoder.stop()

    asyncio.run(run())
