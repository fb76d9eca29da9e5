"""Words such as "million" after amounts: spelled out, brought into the language of an output, and found to be lost."""

import pytest

from specdec_cli.text.checks import NUMBERS, output_warnings
from specdec_cli.text.locale.matching import lost_long_numbers, realise
from specdec_cli.text.locale.scales import lost_letters, spelled_out, with_references
from tests.tables import tables

CASES = tables(__file__)


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
