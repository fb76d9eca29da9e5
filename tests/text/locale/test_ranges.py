"""Ranges of prices and percentages: which are found, how they are written, and what stands for them."""

import pytest

from specdec_cli.text.locale.ranges import find_ranges, lost_ranges, read_as_one, with_ranges, written_alone, written_range
from tests.tables import tables

CASES = tables(__file__)

EN_DE = ("en", "de")


@pytest.mark.parametrize(("text", "language", "written"), CASES.ranges_are_written_with_one_sign)
def test_ranges_are_written_with_one_sign(text: str, language: str, written: list[str]) -> None:
    other = "de" if language == "en" else "en"
    assert [written_range(each, other) for each in find_ranges(text, language)] == written


@pytest.mark.parametrize(("source", "output", "expected"), CASES.the_sign_of_a_range_is_written_once)
def test_the_sign_of_a_range_is_written_once(source: str, output: str, expected: str) -> None:
    assert with_ranges(source, output, EN_DE) == expected


def test_ranges_of_unknown_languages_are_left_alone() -> None:
    assert with_ranges("$5-10", "5 $-10", ("en", "fr")) == "5 $-10"
    assert lost_ranges("$5-10", "5 $", ("en", "fr")) == []


@pytest.mark.parametrize(("source", "output", "lost"), CASES.ranges_are_lost_without_something_between_the_amounts)
def test_ranges_are_lost_without_something_between_the_amounts(source: str, output: str, lost: list[str]) -> None:
    assert [each.text for each in lost_ranges(source, output, EN_DE)] == lost


def test_a_range_is_read_as_its_end() -> None:
    text = "Tickets are $5-10 here."
    read = read_as_one(text, find_ranges(text, "en"), ("en", "de"))
    assert read is not None
    assert read.text == "Tickets are $10 here."
    assert read.restored("Karten kosten hier 10 $.") == "Karten kosten hier 5-10\u00a0$."
    assert read.restored("Karten kosten hier 100 $.") is None
    change = "It rose from $5 to $10."
    assert read_as_one(change, find_ranges(change, "en"), ("en", "de")) is None


def test_a_range_alone_is_written_as_in_the_other_language() -> None:
    assert written_alone("$5-10", EN_DE) == "5-10\u00a0$"
    assert written_alone("\u20ac5\u2013\u20ac10", EN_DE) == "5\u00a0\u20ac\u201310\u00a0\u20ac"
