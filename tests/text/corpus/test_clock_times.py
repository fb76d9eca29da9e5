"""Times of day of both sides of a pair."""

import random
import re

import pytest

from specdec_cli.text.corpus.augmentation import Variation, times, with_other_times
from specdec_cli.text.corpus.parallel import Pair
from tests.tables import tables

CASES = tables(__file__)

PAIRS = [
    ("It is 9pm.", "Es ist 21 Uhr."),
    ("The shop opens at 8:30 a.m. and closes at 7:00 P.M. sharp.", "Das Geschäft öffnet um 8.30 Uhr und schließt um 19:00 Uhr."),
    ("At 12 am or 12:15 pm?", "Um 0 Uhr oder 12:15?"),
    ("The train of 15:05 is late.", "Der Zug um 15:05 Uhr hat Verspätung."),
    ("From 07:45 to 09:15", "Von 07:45 bis 09:15 Uhr"),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_both_sides_get_the_same_other_times(source: str, target: str) -> None:
    draw, seen = random.Random(1), set[tuple[int, ...]]()
    for _ in range(100):
        other = with_other_times(Pair(source, target, "chat"), draw)
        minutes = tuple(time.minutes for time in times(other.source, "en"))
        assert minutes == tuple(time.minutes for time in times(other.target, "de"))
        assert len(minutes) == len(times(source, "en"))
        assert other.domain == "chat"
        seen.add(minutes)
    assert len(seen) > 50


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_all_but_the_times_stays(source: str, target: str) -> None:
    draw = random.Random(2)
    for _ in range(50):
        other = with_other_times(Pair(source, target), draw)
        for before, after, numbers in ((source, other.source, r"\d+(:\d+)?(\s?[ap](?=\.?m))?"), (target, other.target, r"\d+([:.]\d+)?")):
            assert re.sub(numbers, "0", after, flags=re.IGNORECASE) == re.sub(numbers, "0", before, flags=re.IGNORECASE)


@pytest.mark.parametrize(("text", "minutes"), CASES.times_of_the_source_are_found)
def test_times_of_the_source_are_found(text: str, minutes: list[int]) -> None:
    assert [time.minutes for time in times(text, "en")] == minutes


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("21 Uhr", [1260]), ("9.05 Uhr", [545]), ("21:30", [1290]), ("9.05", []), ("24 Uhr", [0]), ("21", []), ("3 Uhren", [])],
)
def test_times_of_the_target_are_found(text: str, minutes: list[int]) -> None:
    assert [time.minutes for time in times(text, "de")] == minutes


@pytest.mark.parametrize(
    ("source", "target"), [("at 9 am", "um 21 Uhr"), ("at 9 am", "um neun Uhr"), ("at 9", "um 9 Uhr"), ("a day", "ein Tag")]
)
def test_pairs_with_different_times_stay(source: str, target: str) -> None:
    pair = Pair(source, target)
    assert with_other_times(pair, random.Random(3)) is pair


def test_numbers_of_times_change_with_their_time_only() -> None:
    vary = Variation([], share=1)
    for _ in range(50):
        varied = vary(Pair("Room 27 at 9:30 pm, not at 8:45", "Zimmer 27 um 21:30 Uhr, nicht um 20:45 Uhr"))
        found = re.fullmatch(r"Room (\d\d) at 9:30 pm, not at 8:45", varied.source)
        assert found
        assert varied.target == f"Zimmer {found[1]} um 21:30 Uhr, nicht um 20:45 Uhr"
