"""Edits between two texts, and their application."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.edits import Edit, apply_edits, edit_ratio, find_edits, inverse_edits, merge_edits, word_edit_ratio
from tests.tables import tables

CASES = tables(__file__)

Texts = st.text(st.sampled_from(["a", "b", "c", " ", " ", ".", "'", "\u00e9", "\t"]), max_size=24)


@pytest.mark.parametrize(("source", "changed", "edits"), CASES.edits_between_texts_are_found)
def test_edits_between_texts_are_found(source: str, changed: str, edits: list[list[object]]) -> None:
    found = find_edits(source, changed)
    assert [[edit.start, edit.end, edit.text] for edit in found] == edits
    assert apply_edits(source, found) == changed


def test_other_white_space_is_no_edit() -> None:
    assert find_edits(" a\u00a0b  c ", "a b c") == []


@given(Texts, Texts)
def test_applied_edits_give_the_changed_text(source: str, changed: str) -> None:
    edits = find_edits(source, changed)
    assert apply_edits(source, edits).split() == changed.split()
    assert all(edit.source == source[edit.start : edit.end] for edit in edits)
    assert all(edit.text == changed[slice(*edit.output)] for edit in edits)
    assert all(one.end <= other.start for one, other in pairwise(edits))
    assert find_edits(source, source) == []


def test_the_ratio_counts_words() -> None:
    edits = [Edit(0, 2, "He", "She"), Edit(9, 9, "", " at all")]
    assert edit_ratio("He is here", edits) == 1.0
    assert edit_ratio("", []) == 0.0


def distance(before: str, after: str) -> int:
    """The word edit distance by its recursive definition."""
    if not before or not after:
        return len(before) + len(after)
    replaced = distance(before[1:], after[1:]) + (before[0] != after[0])
    return min(replaced, distance(before[1:], after) + 1, distance(before, after[1:]) + 1)


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_the_word_edit_ratio_is_minimal(source: str, text: str) -> None:
    ratio = word_edit_ratio(" ".join(source), " ".join(text))
    assert ratio == distance(source, text) / max(len(source), 1)
    assert ratio <= edit_ratio(" ".join(source), find_edits(" ".join(source), " ".join(text)))


@given(Texts, Texts, Texts)
def test_merged_edits_have_the_effect_of_both(source: str, middle: str, changed: str) -> None:
    first = find_edits(source, middle)
    between = apply_edits(source, first)
    second = find_edits(between, changed)
    merged, final = merge_edits(source, first, second), apply_edits(between, second)
    assert apply_edits(source, merged) == final
    assert all(edit.source == source[edit.start : edit.end] != edit.text == final[slice(*edit.output)] for edit in merged)
    assert all(one.end < other.start for one, other in pairwise(merged)), "edits that touch are one"


@given(Texts, Texts)
def test_inverse_edits_take_edits_back(source: str, changed: str) -> None:
    edits = find_edits(source, changed)
    assert apply_edits(apply_edits(source, edits), inverse_edits(edits)) == source
    assert merge_edits(source, edits, inverse_edits(edits)) == []


def test_merged_edits_have_the_lowest_score() -> None:
    source = "an arguement arise"
    spelling = [Edit(3, 12, "arguement", "argument", score=0.5)]
    after = [Edit(12, 18, " arise", " arises", score=-0.2)]
    assert merge_edits(source, spelling, []) == [Edit(3, 12, "arguement", "argument", (3, 11), 0.5)]
    assert merge_edits(source, spelling, [Edit(11, 17, " arise", " arises", score=-0.2)]) == [
        Edit(3, 18, "arguement arise", "argument arises", (3, 18), -0.2)
    ]
    assert merge_edits(source, [], after) == [Edit(12, 18, " arise", " arises", (12, 19), -0.2)]
    assert [edit.score for edit in merge_edits(source, spelling, [Edit(12, 17, "arise", "arose")])] == [0.5, None]
