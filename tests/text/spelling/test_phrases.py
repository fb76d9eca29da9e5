"""Errors of number that a few words of English show, and phrases that look like them."""

import pytest

from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.constructions import phrase_edits
from specdec_cli.text.spelling.ngram_counting import count_ngrams
from tests.tables import tables

CASES = tables(__file__)

KNOWN = count_ngrams(["The friend and friends of the city and cities saw the team and teams , the child and a childs of a boss ."] * 20)


@pytest.mark.parametrize(("text", "corrected"), CASES.phrases_are_corrected)
def test_phrases_are_corrected(text: str, corrected: str) -> None:
    edits = phrase_edits(text, KNOWN, KNOWN.knows)
    assert apply_edits(text, sorted(edits)) == corrected
    assert all(edit.score is not None and edit.score > 0 for edit in edits)


@pytest.mark.parametrize("text", CASES.other_phrases_stay)
def test_other_phrases_stay(text: str) -> None:
    assert phrase_edits(text, KNOWN, KNOWN.knows) == []
