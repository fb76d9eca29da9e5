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

WORDS = st.lists(st.sampled_from(["He", "go", "goes", "the", "a", "of", ",", ".", "don't", "book", "books", "teh", "\u00e9t\u00e9", "to"]))


def types(source: str, changed: str, *, english: bool = True) -> list[tuple[str, ...]]:
    """The types of the edits between two texts."""
    return [edit.types for edit in with_types(source, find_edits(source, changed), english=english)]


@pytest.mark.parametrize(
    ("source", "changed", "type"),
    [
        ("There is many reasons.", "There are many reasons.", "R:VERB:SVA"),
        ("She don't like it.", "She doesn't like it.", "R:VERB:SVA"),
        ("Yesterday I buy it.", "Yesterday I bought it.", "R:VERB:TENSE"),
        ("He can goes home.", "He can go home.", "R:VERB:FORM"),
        ("I enjoy to read.", "I enjoy reading.", "R:VERB:FORM"),
        ("I want go home.", "I want to go home.", "M:VERB:FORM"),
        ("He going home.", "He is going home.", "M:VERB:TENSE"),
        ("I like book.", "I like the book.", "M:DET"),
        ("It is a important day.", "It is an important day.", "R:DET"),
        ("in the July", "in July", "U:DET"),
        ("He arrived to London.", "He arrived in London.", "R:PREP"),
        ("discuss about it", "discuss it", "U:PREP"),
        ("two book", "two books", "R:NOUN:NUM"),
        ("my friends car", "my friend's car", "R:NOUN:POSS"),
        ("He is more tall.", "He is taller.", "R:ADJ:FORM"),
        ("I recieve it", "I receive it", "R:SPELL"),
        ("He goed home", "He went home", "R:VERB:INFL"),
        ("two childs", "two children", "R:NOUN:INFL"),
        ("i am", "I am", "R:ORTH"),
        ("alot of", "a lot of", "R:ORTH"),
        ("However he left", "However, he left", "M:PUNCT"),
        ("the importance day", "the important day", "R:MORPH"),
        ("He runs quick", "He runs quickly", "R:MORPH"),
        ("them are here", "they are here", "R:PRON"),
        ("He is more taller.", "He is taller.", "U:ADV"),
        ("the most easiest way", "the easiest way", "U:ADV"),
        ("I have more time.", "I have time.", "U:ADJ"),
        ("It is often quick.", "It is more often quick.", "M:ADV"),
        ("It is'nt here.", "It isn't here.", "R:CONTR"),
        ("I dont know", "I don't know", "R:CONTR"),
        ("Its a nice day.", "It's a nice day.", "R:OTHER"),
    ],
)
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


@pytest.mark.parametrize(
    ("source", "changed", "expected"),
    [
        ("want that you come", "want you come", "a conjunction is not needed: delete \u201cthat\u201d"),
        ("as to him", "as for him", "the preposition is wrong: use \u201cfor\u201d instead of \u201cto\u201d"),
        ("if he", "whether he", "the conjunction is wrong: use \u201cwhether\u201d instead of \u201cif\u201d"),
        ("is'nt", "isn't", "the contraction is wrong: use \u201cisn't\u201d instead of \u201cis'nt\u201d"),
        ("he go", "he goes", "the verb does not agree with its subject: use \u201cgoes\u201d instead of \u201cgo\u201d"),
        ("I like book", "I like the book", "an article is missing: add \u201cthe\u201d"),
        ("Well I", "Well, I", "a comma is missing: add \u201c,\u201d"),
        ("the  the end", "the end", "an article is not needed: delete \u201cthe\u201d"),
        ("i go", "I go", "capital letters are wrong: use \u201cI\u201d instead of \u201ci\u201d"),
        ("end .", "end.", "spaces are wrong: delete a space"),
        ("well known", "well-known", "a hyphen is missing: use \u201c-\u201d instead of a space"),
    ],
)
def test_explanations(source: str, changed: str, expected: str) -> None:
    (edit,) = with_types(source, find_edits(source, changed))
    assert explanation(edit) == expected


@pytest.mark.parametrize(
    ("source", "changed", "expected"),
    [
        (
            "Its hot",
            "It\u2019s hot",
            "\u201cits\u201d means \u201cof it\u201d, \u201cit's\u201d means \u201cit is\u201d or ",
        ),
        ("you're car", "your car", "\u201cyou're\u201d means \u201cyou are\u201d, \u201cyour\u201d means \u201cof you\u201d: "),
        ("Their going", "They're going", "\u201ctheir\u201d means \u201cof them\u201d, \u201cthey're\u201d means \u201cthey are\u201d: "),
        ("could of gone", "could have gone", "\u201cof\u201d is a preposition, \u201chave\u201d is the verb after "),
    ],
)
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
