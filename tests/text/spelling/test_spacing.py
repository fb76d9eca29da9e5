"""Spaces beside marks and between words of English prose are corrected, and errors of number that a few words show; no others."""

import random

import pytest

from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.constructions import apostrophes, phrase_edits, repeated_spaces, spaces_beside_marks
from tests.tables import tables

CASES = tables(__file__)

WORDS = ["old", "house", "stands", "near", "small", "river", "green", "garden", "looks", "lovely", "every", "spring", "morning"]
STARTS = ("This", "It", "They", "He", "We", "But", "In", "The")


@pytest.mark.parametrize(("text", "corrected"), CASES.spaces_are_put_after_marks)
def test_spaces_are_put_after_marks(text: str, corrected: str) -> None:
    assert apply_edits(text, spaces_beside_marks(text)) == corrected


@pytest.mark.parametrize("text", CASES.other_spaces_are_kept)
def test_other_spaces_are_kept(text: str) -> None:
    assert spaces_beside_marks(text) == []


@pytest.mark.parametrize(("text", "corrected"), [("This  line is good.", "This line is good."), ("Yes,  I am sure!", "Yes, I am sure!")])
def test_two_spaces_become_one(text: str, corrected: str) -> None:
    assert apply_edits(text, repeated_spaces(text)) == corrected


@pytest.mark.parametrize("text", CASES.tables_and_styles_keep_their_spaces)
def test_tables_and_styles_keep_their_spaces(text: str) -> None:
    assert repeated_spaces(text) == []


@pytest.mark.parametrize(("text", "corrected"), CASES.accents_in_short_forms_become_apostrophes)
def test_accents_in_short_forms_become_apostrophes(text: str, corrected: str) -> None:
    assert apply_edits(text, apostrophes(text)) == corrected


def test_drawn_sentences_are_joined_rightly() -> None:
    random.seed(61)
    wrong = []
    for _ in range(60):
        first, second = (random.sample(WORDS, random.randint(4, 7)) for _ in range(2))
        right = f"{' '.join(first).capitalize()}. {random.choice(STARTS)} {' '.join(second)}."
        text = right.replace(". ", random.choice((" .", ".", " . ")), 1)
        if random.random() < 0.5:
            text, right = text.replace(" ", ", ", 1), right.replace(" ", ", ", 1)
        has_evidence = " . " not in text or "," in text
        if apply_edits(text, spaces_beside_marks(text)) != (right if has_evidence else text):
            wrong.append(text)
    assert wrong == []


KNOWN = count_ngrams(["The friend and friends of the city and cities saw the team and teams , the child and a childs of a boss ."] * 20)


@pytest.mark.parametrize(("text", "corrected"), CASES.phrases_are_corrected)
def test_phrases_are_corrected(text: str, corrected: str) -> None:
    edits = phrase_edits(text, KNOWN, KNOWN.knows)
    assert apply_edits(text, sorted(edits)) == corrected
    assert all(edit.score is not None and edit.score > 0 for edit in edits)


@pytest.mark.parametrize("text", CASES.other_phrases_stay)
def test_other_phrases_stay(text: str) -> None:
    assert phrase_edits(text, KNOWN, KNOWN.knows) == []
