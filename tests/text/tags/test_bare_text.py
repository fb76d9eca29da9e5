"""Void items and inline tags: removed from a text, and kept when edits of the text without them are made."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.tags.markup import bare

ITEM = re.compile(r"<[nv]\d/>|<a [^<>]*>|<!-- c -->")


def edited(source: str, changed: str) -> str:
    """`source` with the edits that turn its text without items into `changed`."""
    plain = bare(source)
    return apply_edits(source, plain.restored(find_edits(plain.text, changed)))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("He<n1/>have no tea.", "He have no tea."),
        ("He <v1/>have no tea.", "He have no tea."),
        ("She go<!-- c --> home.", "She go home."),
        ("A big<wbr>time <g1>no<v2/></g1> one.", "A bigtime no one."),
    ],
)
def test_the_text_has_no_items(source: str, text: str) -> None:
    assert bare(source).text == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("It is *very* good, _really_ ~~not~~ **so** bad.", "It is very good, really not so bad."),
        ('***All of it:*** *"He said so"*', 'All of it: "He said so"'),
        ("(*this*) and *that*!", "(this) and that!"),
        ("<b>a *new* one</b>", "a new one"),
        ("*.py and *.txt", "*.py and *.txt"),
        ("2 *3* 4 and 2*x*4", "2 *3* 4 and 2*x*4"),
        ("Price* and tax*", "Price* and tax*"),
        ("a * b * c", "a * b * c"),
        ("__init__ and snake_case_name", "__init__ and snake_case_name"),
        (r"\*not this\* and `*code*`", r"\*not this\* and `*code*`"),
    ],
)
def test_the_text_has_no_marks_of_emphasis(source: str, text: str) -> None:
    assert bare(source).text == text


@pytest.mark.parametrize(
    ("source", "changed", "expected"),
    [
        ("He *have* no tea.", "He has no tea.", "He *has* no tea."),
        ("He<n1/>have no tea.", "He has no tea.", "He<n1/>has no tea."),
        ("He <v1/>have no tea.", "He has no tea.", "He <v1/>has no tea."),
        ("She go<v1/> home.", "She goes home.", "She goes<v1/> home."),
        ("They is<n1/>a <g1>cat<v2/></g1>.", "They are cats.", "They is<n1/>a <g1>cat<v2/></g1>."),  # two words become one
        ("Its<n1/>a <b>cat</b>.", "It's an <b>cat</b>.", "It's<n1/>an <b>cat</b>."),
        ("He likes<n1/>the tennis.", "He likes tennis.", "He likes<n1/>tennis."),
        ("He likes<n1/>tennis.", "He likes the tennis.", "He likes the<n1/>tennis."),
        ("He went[^1] home", "He went back home", "He went[^1] back home"),
        ("He went home[^1]", "He went home.", "He went home.[^1]"),
        ("one<n1/>, two", "one, two", "one<n1/>, two"),
        ("it can<v1/>not be", "it can be", "it can<v1/>not be"),  # a part of a word
    ],
)
def test_edits_are_made_between_items(source: str, changed: str, expected: str) -> None:
    plain = bare(source)
    assert edited(source, bare(changed).text) == expected
    assert all(edit.source == source[edit.start : edit.end] for edit in plain.restored(find_edits(plain.text, changed)))


WORDS = st.lists(st.sampled_from(["he", "go", " ", " ", ".", "<n1/>", "<v2/>", '<a href="x">', "<!-- c -->"]))


@given(WORDS, st.lists(st.sampled_from(["he", "goes", " ", ".", ","])))
def test_no_edit_changes_the_items(words: list[str], changed: list[str]) -> None:
    source = "".join(words)
    assert ITEM.findall(edited(source, "".join(changed))) == ITEM.findall(source)
    assert edited(source, bare(source).text) == source


def test_a_text_may_have_many_items_and_edits() -> None:
    assert edited("a<n1/>" * 5_000 + "c", "b " * 5_000 + "c") == "b<n1/>" * 5_000 + "c"
