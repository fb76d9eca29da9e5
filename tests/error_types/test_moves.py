"""Moves of words: one edit, with the same corrected text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.error_types.annotation import with_moves, with_types
from specdec_cli.error_types.names import explanation
from specdec_cli.text.edits import apply_edits, find_edits

WORDS = st.lists(st.sampled_from(["he", "is", "where", "always", ",", "."]), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("source", "changed", "expected"),
    [
        ("I know where is he.", "I know where he is.", "use \u201che is\u201d instead of \u201cis he\u201d"),
        ("he goes there always", "he always goes there", "use \u201calways goes there\u201d instead of \u201cgoes there always\u201d"),
        ("always he is late", "he is always late", "use \u201che is always\u201d instead of \u201calways he is\u201d"),
    ],
)
def test_a_move_is_one_edit_of_word_order(source: str, changed: str, expected: str) -> None:
    (edit,) = with_types(source, find_edits(source, changed))
    assert edit.types == ("R:WO",) and explanation(edit) == f"the order of the words is wrong: {expected}"


@given(WORDS, WORDS)
def test_the_corrected_text_and_its_score_are_the_same(source: str, changed: str) -> None:
    edits = [edit._replace(score=-1.0) for edit in find_edits(source, changed)]
    moved = with_moves(source, edits)
    assert apply_edits(source, moved) == changed or apply_edits(source, moved) == apply_edits(source, edits)
    assert sum(edit.score or 0 for edit in moved) == -len(edits)
    for edit in moved:
        assert source[edit.start : edit.end] == edit.source and changed[slice(*edit.output)] == edit.text


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("he , is late", "he is , late"),
        ("he is here. where", "where he is here."),
        ("always one two three four", "one two three four always"),
        ("I see the the cat", "I the see cat"),
    ],
)
def test_other_pairs_of_edits_stay_apart(source: str, changed: str) -> None:
    edits = find_edits(source, changed)
    assert with_moves(source, edits) == edits and len(edits) > 1


def test_a_word_does_not_pass_markup() -> None:
    source = "I know where is he."
    edits = find_edits(source, "I know where he is.")
    assert with_moves(source, edits, [source.index("is")]) == edits
    assert len(with_moves(source, edits, [0])) == 1
