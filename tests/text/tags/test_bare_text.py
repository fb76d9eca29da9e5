"""Void items and inline tags: removed from a text, and kept when edits of the text without them are made."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.tags.markup import bare
from tests.tables import tables

CASES = tables(__file__)

ITEM = re.compile(r"<[nv]\d/>|<a [^<>]*>|<!-- c -->")


def edited(source: str, changed: str) -> str:
    """`source` with the edits that turn its text without items into `changed`."""
    plain = bare(source)
    return apply_edits(source, plain.restored(find_edits(plain.text, changed)))


@pytest.mark.parametrize(("source", "text"), CASES.the_text_has_no_items)
def test_the_text_has_no_items(source: str, text: str) -> None:
    assert bare(source).text == text


@pytest.mark.parametrize(("source", "text"), CASES.the_text_has_no_marks_of_emphasis)
def test_the_text_has_no_marks_of_emphasis(source: str, text: str) -> None:
    assert bare(source).text == text


@pytest.mark.parametrize(("source", "changed", "expected"), CASES.edits_are_made_between_items)
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
