"""Texts in capitals come out in capitals, and words in capitals or between marks of emphasis are translated with their marks."""

import random
from collections.abc import Callable

import pytest

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.text.shape import in_small_letters, is_in_capitals, with_first_capital
from tests.drawn import Drawn, Kind, check_translations, kinds
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


@pytest.mark.parametrize(("text", "small"), CASES.the_first_letter_stays_a_capital)
def test_the_first_letter_stays_a_capital(text: str, small: str) -> None:
    assert in_small_letters(text) == small


@pytest.mark.parametrize(("text", "output"), CASES.outputs_are_in_capitals_except_for_protected_spans)
def test_outputs_are_in_capitals_except_for_protected_spans(text: str, output: str) -> None:
    words = {"the": "die", "street": "stra\u00dfe", "The": "Die"}
    assert placed(text, lambda source: " ".join(words.get(word, word) for word in source.split())) == output


@pytest.mark.parametrize(("source", "output", "written"), CASES.a_text_keeps_its_first_capital)
def test_a_text_keeps_its_first_capital(source: str, output: str, written: str) -> None:
    assert with_first_capital(output, source) == written


def _drawn(draw: random.Random, sentences: tuple[tuple[str, str, str], ...]) -> Drawn:
    sentence, word, expected = draw.choice(sentences)
    mark = draw.choice(CASES.marks)
    own = mark.replace("*", r"\*")
    return Drawn(sentence.format(f"{mark}{word}{mark}"), has=(rf"(?<![*_~]){own}(?:{expected}){own}(?![*_~])",))


def english(draw: random.Random) -> Drawn:
    return _drawn(draw, CASES.english)


def german(draw: random.Random) -> Drawn:
    return _drawn(draw, CASES.german)


def english_stress(draw: random.Random) -> Drawn:
    word, sentence, expected = draw.choice(CASES.english_stress)
    name = draw.choice(("", "Tom, ", "Well, ", "Anna: ", "Dear all, ", "Sorry, "))
    return Drawn(name + sentence.format(word.upper()), has=(rf"(?i)\b(?:{expected})",), lacks=(word.upper(),))


def german_stress(draw: random.Random) -> Drawn:
    word, sentence, expected = draw.choice(CASES.german_stress)
    name = draw.choice(("", "Tom, ", "Also, ", "Anna: ", "Hallo, ", "Ja, "))
    return Drawn(name + sentence.format(word.upper()), has=(rf"(?i)\b(?:{expected})",), lacks=(word.upper(),))


KINDS = (
    *kinds(97, english),
    *kinds(97, german, bundle="de-en"),
    *kinds(90, english_stress),
    *kinds(90, german_stress, bundle="de-en"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
def test_emphasised_words_are_translated_between_their_marks(kind: Kind, pytestconfig: pytest.Config) -> None:
    check_translations(kind, 1, pytestconfig.cache, are_warned=False)
