"""Texts in capitals are decoded in small letters, and come out in capitals."""

from collections.abc import Callable

import pytest

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.text.shape import in_small_letters, is_in_capitals, with_first_capital
from tests.tables import tables
from tests.variants import chosen

CASES = tables(__file__)


def placed(text: str, model: Callable[[str], str]) -> str:
    """The output that is chosen."""
    return chosen(variants_with("\u20ac".__contains__, text), model).text


@pytest.mark.parametrize(("text", "expected"), CASES.texts_in_capitals_are_not_abbreviations)
def test_texts_in_capitals_are_not_abbreviations(text: str, expected: bool) -> None:
    assert is_in_capitals(text) == expected


@pytest.mark.parametrize(("text", "expected"), CASES.shouted_sentences_have_function_words_or_a_final_mark)
def test_shouted_sentences_have_function_words_or_a_final_mark(text: str, expected: bool) -> None:
    assert is_in_capitals(text, "en") == expected


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("ERROR: I FOUND IT", "Error: I found it"),
        ('"\u00c4RGER" UND `LS`', '"\u00c4rger" und `LS`'),
        ("`LS` IS HERE", "`LS` Is here"),
    ],
)
def test_the_first_letter_stays_a_capital(text: str, small: str) -> None:
    assert in_small_letters(text) == small


@pytest.mark.parametrize(("text", "output"), CASES.outputs_are_in_capitals_except_for_protected_spans)
def test_outputs_are_in_capitals_except_for_protected_spans(text: str, output: str) -> None:
    words = {"the": "die", "street": "stra\u00dfe", "The": "Die"}
    assert placed(text, lambda source: " ".join(words.get(word, word) for word in source.split())) == output


@pytest.mark.parametrize(("source", "output", "written"), CASES.a_text_keeps_its_first_capital)
def test_a_text_keeps_its_first_capital(source: str, output: str, written: str) -> None:
    assert with_first_capital(output, source) == written
