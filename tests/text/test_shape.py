"""The ends and beginnings of outputs, as in the source, and tidied text: spaces before marks, the first letter, the last full stop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.shape import (
    tidied,
    with_ordinal_endings,
    with_own_end,
    with_own_joints,
    with_repeated_marks,
    with_single_stops,
    with_small_function_word,
    without_added_stop,
    without_stress,
)
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("source", "output", "expected"), CASES.stops_are_single_or_an_ellipsis)
def test_stops_are_single_or_an_ellipsis(source: str, output: str, expected: str) -> None:
    assert with_single_stops(output, source) == expected


@pytest.mark.parametrize(("source", "output", "expected"), CASES.runs_of_marks_are_those_of_the_source)
def test_runs_of_marks_are_those_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_repeated_marks(output, source) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [("on", "Auf", "auf"), ("house", "Haus", "Haus"), ("On", "Auf", "Auf"), ("of the", "Von der", "von der"), ("x", "", "")],
)
def test_function_words_of_parts_have_the_case_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_small_function_word(output, source) == expected


@pytest.mark.parametrize(("source", "output", "expected"), CASES.the_final_mark_is_that_of_the_source)
def test_the_final_mark_is_that_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_own_end(output, source) == expected


@pytest.mark.parametrize(("output", "source", "expected"), CASES.the_stop_of_an_abbreviation_is_none_that_was_added)
def test_the_stop_of_an_abbreviation_is_none_that_was_added(output: str, source: str, expected: str) -> None:
    assert without_added_stop(output, source) == expected


def test_the_english_pronoun_keeps_its_capital() -> None:
    assert with_small_function_word("I come soon", "ich komme gleich") == "I come soon"
    assert with_small_function_word("We come soon", "wir kommen gleich") == "we come soon"


@pytest.mark.parametrize(("text", "language", "expected"), CASES.stressed_words_have_small_letters)
def test_stressed_words_have_small_letters(text: str, language: str, expected: str) -> None:
    assert without_stress(text, language) == expected


@pytest.mark.parametrize(("output", "expected"), CASES.ordinals_have_the_endings_of_their_numbers)
def test_ordinals_have_the_endings_of_their_numbers(output: str, expected: str) -> None:
    assert with_ordinal_endings(output) == expected


def test_plus_signs_between_words_have_the_spaces_of_the_source() -> None:
    assert with_own_joints("Strg +Umschalt+ Esc", "Ctrl + Shift + Esc") == "Strg + Umschalt + Esc"
    assert with_own_joints("Strg + C, 1 + 2", "Ctrl+C, 1 + 2") == "Strg+C, 1 + 2"
    assert with_own_joints("a +b", "a + b, c+d") == "a +b"


def test_the_polite_pronoun_keeps_its_capital_inside_of_a_sentence() -> None:
    assert with_small_function_word("Sie kommen", "you come") == "Sie kommen"
    assert with_small_function_word("Sie kommen", "they come") == "sie kommen"
    assert with_small_function_word("Ihr Haus", "your house") == "Ihr Haus"


@pytest.mark.parametrize(("text", "expected"), CASES.texts_are_tidied)
def test_texts_are_tidied(text: str, expected: str) -> None:
    assert tidied(text) == expected


@given(st.text(alphabet="aB .,!?'(1\u00df\u01c6", max_size=20))
def test_letters_are_kept_and_tidied_text_stays(text: str) -> None:
    found = tidied(text)
    assert tidied(found) == found
    assert [each for each in found.casefold() if each.isalnum()] == [each for each in text.casefold() if each.isalnum()]
