"""Types of errors, their names, and sentences that explain them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.error_types.annotation import with_types
from specdec_cli.error_types.names import CATEGORIES, OPERATIONS, belongs_to, checked_names, description, difference, explanation
from specdec_cli.error_types.rules import error_type
from specdec_cli.error_types.tagging import tagged
from specdec_cli.errors import UsageError
from specdec_cli.text.edits import find_edits
from tests.tables import tables

CASES = tables(__file__)

WORDS = st.lists(st.sampled_from(["He", "go", "goes", "the", "a", "of", ",", ".", "don't", "book", "books", "teh", "\u00e9t\u00e9", "to"]))


def types(source: str, changed: str, *, english: bool = True) -> list[tuple[str, ...]]:
    """The types of the edits between two texts."""
    return [edit.types for edit in with_types(source, find_edits(source, changed), english=english)]


@pytest.mark.parametrize(("source", "changed", "type"), CASES.types_are_those_of_errant)
def test_types_are_those_of_errant(source: str, changed: str, type: str) -> None:
    assert types(source, changed) == [(type,)]


def test_word_order_is_a_type_of_several_words() -> None:
    before, after = tagged(["this", "always", "is"]), tagged(["this", "is", "always"])
    assert error_type(before[1:], after[1:]) == "R:WO"


def test_an_edit_of_several_words_has_a_type_for_each() -> None:
    (edit,) = with_types("I buy a apple", find_edits("I buy a apple", "I bought an apple"))
    assert (edit.types, edit.type) == (("R:VERB:TENSE", "R:DET"), "R:OTHER")
    expected = "the verb has the wrong tense, and the determiner is wrong: use \u201cbought an\u201d instead of \u201cbuy a\u201d"
    assert explanation(edit) == expected


@pytest.mark.parametrize(("source", "changed", "expected"), CASES.explanations)
def test_explanations(source: str, changed: str, expected: str) -> None:
    (edit,) = with_types(source, find_edits(source, changed))
    assert explanation(edit) == expected


@pytest.mark.parametrize(("source", "changed", "expected"), CASES.words_that_are_taken_for_each_other_are_told_apart)
def test_words_that_are_taken_for_each_other_are_told_apart(source: str, changed: str, expected: str) -> None:
    (edit,) = with_types(source, find_edits(source, changed))
    assert explanation(edit).startswith(expected) and f"instead of \u201c{edit.source}\u201d" in explanation(edit)
    assert difference(edit._replace(text="the")) is None


@given(WORDS, WORDS, st.booleans())
def test_every_edit_has_a_known_type_and_an_explanation(source: list[str], changed: list[str], english: bool) -> None:
    for edit in with_types(" ".join(source), find_edits(" ".join(source), " ".join(changed)), english=english):
        assert edit.types and all(checked_names([type]) == (type,) for type in edit.types)
        assert "\n" not in explanation(edit) and all(description(type) for type in edit.types)


def test_other_languages_have_no_grammar() -> None:
    assert types("Er gehen heim", "Er geht heim", english=False) == [("R:OTHER",)]
    assert types("Ja er geht", "Ja, er geht", english=False) == [("M:PUNCT",)]
    assert types("dont", "don't", english=False) == [("R:OTHER",)]
    assert types("heute", "Heute", english=False) == [("R:ORTH",)]


def test_names_are_prefixes_of_types() -> None:
    assert all(belongs_to("R:VERB:SVA", name) for name in ("R", "R:VERB", "R:VERB:SVA", "VERB", "VERB:SVA"))
    assert not any(belongs_to("R:VERB:SVA", name) for name in ("M", "SVA", "VER", "M:VERB", "VERB:S"))
    assert checked_names(["spell", "m:det"]) == ("SPELL", "M:DET")
    for name in ("VERBS", "X", ""):
        with pytest.raises(UsageError, match="not known; there are ADJ, "):
            checked_names([name])
    assert len(OPERATIONS) == 3 and "VERB:SVA" in CATEGORIES
