"""Words such as "million" after amounts: spelled out, brought into the language of an output, and found to be lost. Ranges of prices and
percentages: which are found, how they are written, and what stands for them.
"""

import pytest

from specdec_cli.text.checks import NUMBERS, output_warnings
from specdec_cli.text.locale.amounts import (
    find_ranges,
    lost_letters,
    lost_ranges,
    read_as_one,
    spelled_out,
    with_ranges,
    with_references,
    written_alone,
    written_range,
)
from specdec_cli.text.locale.matching import lost_long_numbers, realise
from tests.tables import tables

CASES = tables(__file__)

EN_DE = ("en", "de")


@pytest.mark.parametrize(("text", "language", "expected"), CASES.abbreviations_are_spelled_out)
def test_abbreviations_are_spelled_out(text: str, language: str, expected: str) -> None:
    assert spelled_out(text, language) == expected


@pytest.mark.parametrize(("source", "output", "expected"), CASES.an_output_has_the_word_of_its_language)
def test_an_output_has_the_word_of_its_language(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("en", "de")) == expected


@pytest.mark.parametrize(("source", "output", "own", "other", "expected"), CASES.references_have_the_abbreviation_of_the_target)
def test_references_have_the_abbreviation_of_the_target(source: str, output: str, own: str, other: str, expected: str) -> None:
    assert with_references(source, output, (own, other)) == expected


def test_a_number_with_a_letter_stays() -> None:
    assert lost_letters("See Fig. 2a and 3b, not v1.2a.", "Siehe Abb. 2 Uhr und 3b.") == ["2a"]
    assert lost_letters("It is 6 ft 2 in long, 5 ft 1 in total.", "Es ist 6 ft 2 lang.") == ["6 ft 2 in"]


def test_an_amount_without_its_million_is_lost() -> None:
    assert lost_long_numbers("They lost £15 million.", "Sie verloren 15 £.", ("en", "de")) == ["15"]
    assert lost_long_numbers("They lost £15 million.", "Sie verloren 15 Mio. £.", ("en", "de")) == []


@pytest.mark.parametrize(("output", "lost"), CASES.a_currency_in_words_is_lost_without_its_name_sign_or_code)
def test_a_currency_in_words_is_lost_without_its_name_sign_or_code(output: str, lost: list[str]) -> None:
    assert lost_long_numbers("They paid 2 billion pounds.", output, ("en", "de")) == lost
    assert output_warnings("They paid 2 billion pounds.", output, ("en", "de")) == ((NUMBERS,) if lost else ())


@pytest.mark.parametrize(("source", "output", "expected"), CASES.a_time_keeps_its_hour_unless_the_source_says_that_it_is_later)
def test_a_time_keeps_its_hour_unless_the_source_says_that_it_is_later(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("en", "de")) == expected


def test_sizes_and_times_with_zones_are_numbers() -> None:
    source = "10 x 20 x 5.5 cm at 10 a.m. PST, Fig. 2a, 3 x 4"
    assert lost_letters(source, "10 x 5,5 cm um 10 Uhr, Abb. 2") == ["2a", "10 x 20 x 5.5", "10 a.m. PST"]
    assert lost_letters(source, "10x20x5,5 cm um 10 Uhr PST, Abb. 2a") == []


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
