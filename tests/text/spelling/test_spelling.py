"""Corrections of misspelt and confused words: which words, by which others, and with what scores."""

import pytest

from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.speller import Lexicon, Speller, _is_usual, _usual_variants, _variants
from tests.tables import tables

CASES = tables(__file__)

TEXT = [
    "They had an argument about the receipt.",
    "We accommodate the guests of the house.",
    "Furthermore, we want to know the reasons.",
    "And furthermore they know.",
    "They live up to the house.",
    "She doesn't know the reason.",
    "The guests had a quite bad idea.",
    "They were quiet in the house.",
]
WORDS = ["accommodate", "argument", "bad", "doesn't", "furthermore", "guest", "guests", "house", "lychee", "quiet", "quite"]
WORDS += ["reason", "receipt", "the", "to", "up", "Pilates"]


@pytest.fixture(scope="module")
def speller() -> Speller:
    return Speller(Lexicon(lambda: WORDS), count_ngrams(TEXT * 20))


@pytest.mark.parametrize(("text", "corrected"), CASES.misspelt_words_are_corrected)
def test_misspelt_words_are_corrected(speller: Speller, text: str, corrected: str) -> None:
    edits = speller.edits(text)
    assert apply_edits(text, edits) == corrected
    assert all(edit.score is not None and edit.source == text[edit.start : edit.end] for edit in edits)


@pytest.mark.parametrize("text", CASES.other_words_are_left_alone)
def test_other_words_are_left_alone(speller: Speller, text: str) -> None:
    assert speller.edits(text) == []


@pytest.fixture(scope="module")
def listener() -> Speller:
    usual = [
        "The dog hurt its leg.",
        "It's an idea.",
        "They had an honest guest and a house.",
        "They're there for their guests.",
        "We saw a house.",
    ]
    return Speller(Lexicon(lambda: [*WORDS, "honest"]), count_ngrams(usual * 1000))


@pytest.mark.parametrize(("text", "corrected"), CASES.words_that_sound_alike_are_corrected)
def test_words_that_sound_alike_are_corrected(listener: Speller, text: str, corrected: str) -> None:
    edits = listener.edits(text)
    assert apply_edits(text, edits) == corrected
    assert all(edit.score is not None and edit.score > 0 and edit.source == text[edit.start : edit.end] for edit in edits)


@pytest.mark.parametrize("text", CASES.words_that_are_as_probable_remain)
def test_words_that_are_as_probable_remain(listener: Speller, text: str) -> None:
    assert listener.edits(text) == []


def test_the_context_chooses_among_corrections_and_gives_the_score(speller: Speller) -> None:
    (one,), (other,) = speller.edits("The guests had a quiite bad idea."), speller.edits("They were quiiet in the house.")
    assert (one.text, other.text) == ("quite", "quiet")
    (strange,) = speller.edits("The reason about quiiet the receipt.")
    assert one.score is not None and strange.score is not None and one.score > strange.score


def test_a_frequent_misspelling_costs_less(speller: Speller) -> None:
    (doubled,), (changed,) = speller.edits("They had an arggument."), speller.edits("They had an arqument.")
    assert doubled.score is not None and changed.score is not None and doubled.score > changed.score


@pytest.mark.parametrize("word", ["letter", "beleive", "ocurred", "aab", "it's", "caf\u00e9e", "goverment", "yyo", "ab"])
def test_usual_variants_are_those_variants_that_are_usual(word: str) -> None:
    assert _usual_variants(word) == {new for new in _variants(word) if new != word and _is_usual(word, new)}
