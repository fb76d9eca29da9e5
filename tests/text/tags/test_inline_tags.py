"""Inline tags: removed from a text, and kept exactly when edits of the text without them are made."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.tags.markup import untagged
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
