"""Errors of number that a few words of English show, and phrases that look like them."""

import pytest

from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.constructions import phrase_edits
from specdec_cli.text.spelling.ngram_counting import count_ngrams

KNOWN = count_ngrams(["The friend and friends of the city and cities saw the team and teams , the child and a childs of a boss ."] * 20)


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("One of my friend lives here.", "One of my friends lives here."),
        ("Each of the city is old.", "Each of the cities is old."),
        ("I saw two of her friend.", "I saw two of her friends."),
        ("It is one of the biggest city.", "It is one of the biggest cities."),
    ],
)
def test_phrases_are_corrected(text: str, corrected: str) -> None:
    edits = phrase_edits(text, KNOWN, KNOWN.knows)
    assert apply_edits(text, sorted(edits)) == corrected
    assert all(edit.score is not None and edit.score > 0 for edit in edits)


@pytest.mark.parametrize(
    "text",
    [
        "One of the team lives here.",
        "One of my friends lives here.",
        "One of my friend groups lives here.",
        "One of the boss is here.",  # ends with s
        "One of the zebra is here.",  # the plural is not known
        "One of the information is old.",
        "Many of these friend in the city.",
        "One of the most old city and team parks.",
        "",
    ],
)
def test_other_phrases_stay(text: str) -> None:
    assert phrase_edits(text, KNOWN, KNOWN.knows) == []
