"""Void items and inline tags: removed from a text, and kept exactly when edits of the text without them are made."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.tags.markup import bare, untagged
from tests.tables import tables

CASES = tables(__file__)

TAG = re.compile(r"<(?:\"[^\"]*\"|[^<>\"])*>")


def edited(source: str, changed: str) -> str:
    """`source` with the edits that turn its text without tags into `changed`."""
    plain = untagged(source)
    return apply_edits(source, plain.restored(find_edits(plain.text, changed)))


@pytest.mark.parametrize(("source", "changed", "expected"), CASES.edits_are_made_between_tags)
def test_edits_are_made_between_tags(source: str, changed: str, expected: str) -> None:
    assert edited(source, changed) == expected


def test_tags_that_separate_words_remain() -> None:
    assert untagged("one</b><b>two <br> three<x1/>").text == "one</b><b>two <br> three<x1/>"
    assert untagged("H<sub>2</sub>O is<i> wet</i>").text == "H2O is wet"
    assert untagged("<b>Title</b>").is_enclosed and not untagged("<b>Title</b> of it").is_enclosed


@pytest.mark.parametrize("source", CASES.prose_that_only_looks_like_a_tag_remains)
def test_prose_that_only_looks_like_a_tag_remains(source: str) -> None:
    assert untagged(source).text == source


def test_a_tag_with_attributes_needs_no_counterpart() -> None:
    assert untagged('see <a href="x">the house').text == "see the house"


def test_one_edit_may_contain_many_tags() -> None:
    source = "<b>a </b>" * 20_000
    assert edited(source, "b " * 20_000) == "<b>b </b>" * 20_000


@given(
    st.lists(
        st.sampled_from(["he", "go", " ", " ", ".", "<b>", "</b>", "<g1>", "</g1>", '<a href="x">', '<a title=">">', "</a>", "<x1/>"])
    ),
    st.lists(st.sampled_from(["he", "goes", " ", ".", ","])),
)
def test_no_edit_changes_the_tags(source: list[str], changed: list[str]) -> None:
    plain = untagged("".join(source))
    found = iter(TAG.findall(edited(plain.source, "".join(changed))))
    assert all(plain.source[tag.start : tag.end] in found for tag in plain.tags)  # in this order, each once
    assert edited(plain.source, plain.text) == plain.source


ITEM = re.compile(r"<[nv]\d/>|<a [^<>]*>|<!-- c -->")


def edited_bare(source: str, changed: str) -> str:
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
    assert edited_bare(source, bare(changed).text) == expected
    assert all(edit.source == source[edit.start : edit.end] for edit in plain.restored(find_edits(plain.text, changed)))


WORDS = st.lists(st.sampled_from(["he", "go", " ", " ", ".", "<n1/>", "<v2/>", '<a href="x">', "<!-- c -->"]))


@given(WORDS, st.lists(st.sampled_from(["he", "goes", " ", ".", ","])))
def test_no_edit_changes_the_items(words: list[str], changed: list[str]) -> None:
    source = "".join(words)
    assert ITEM.findall(edited_bare(source, "".join(changed))) == ITEM.findall(source)
    assert edited_bare(source, bare(source).text) == source


def test_a_text_may_have_many_items_and_edits() -> None:
    assert edited_bare("a<n1/>" * 5_000 + "c", "b " * 5_000 + "c") == "b<n1/>" * 5_000 + "c"
