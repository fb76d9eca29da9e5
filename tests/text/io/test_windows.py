"""Windows of lines: all items that have arrived, within limits."""

from collections.abc import Iterator
from threading import Semaphore

import pytest

from specdec_cli.text.io.windows import windows


def test_items_are_returned_in_order() -> None:
    assert [item for window in windows(range(1000), 7) for item in window] == list(range(1000))
    assert max(len(window) for window in windows(range(1000), 7)) <= 7
    assert list(windows([], 3)) == []


def test_an_error_is_raised_after_earlier_items() -> None:
    def items() -> Iterator[int]:
        yield from range(3)
        raise ValueError("bad")

    found: list[int] = []
    with pytest.raises(ValueError, match="bad"):
        for window in windows(items(), 2):
            found += window
    assert found == [0, 1, 2]


def test_an_item_is_returned_before_the_next_arrives() -> None:
    asked = Semaphore(1)

    def items() -> Iterator[int]:
        for number in range(5):
            asked.acquire()
            yield number

    for window in windows(items(), 10):
        assert len(window) == 1
        asked.release()


@pytest.mark.parametrize("weight", [1, 5, 100, 1000])
def test_the_weight_limits_windows_and_reading_ahead(weight: int) -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for number in range(500):
            read.append(number)
            yield 10

    taken = 0
    for window in windows(items(), 200, lambda item: item, weight):
        assert sum(window) <= max(10, weight)
        taken += len(window)
        # Beyond the limit there are the item that crosses it, and one that waits to be stored.
        assert len(read) - taken <= weight / 10 + 2
    assert taken == 500


def test_a_continued_item_is_in_one_window_with_the_next() -> None:
    found = list(windows([1, 3, 2, 5, 4, 6], 1, goes_on=lambda item: item % 2 == 1))
    assert found == [[1, 3, 2], [5, 4], [6]]
    for size, lengths in ((2, [256, 256, 88]), (150, [300, 300])):
        assert [len(window) for window in windows([1] * 600, size, goes_on=lambda _: True)] == lengths


def test_a_continued_item_waits_a_limited_time() -> None:
    asked = Semaphore(1)

    def items() -> Iterator[int]:
        for number in range(3):
            asked.acquire()
            yield number

    for window in windows(items(), 10, goes_on=lambda _: True):
        assert len(window) == 1
        asked.release()
