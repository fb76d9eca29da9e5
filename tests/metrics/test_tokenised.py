"""Tokenised text is joined, edited and split again; edits of characters."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.metrics.character_edits import CharacterEdit, character_edits, match_characters
from specdec_cli.metrics.max_match import MaxMatch
from specdec_cli.metrics.tokenised import detokenise, join_with_spaces, tokenise
from tests.tables import tables

CASES = tables(__file__)

TEXT = "I do n't like he 's cat , ok ( really ) ."


def test_tokens_are_joined_and_their_offsets_found() -> None:
    sentence = detokenise(TEXT.split())
    assert sentence.raw == "I don't like he's cat, ok (really)."
    assert [sentence.raw[start:end] for start, end in sentence.spans] == TEXT.split()


@pytest.mark.parametrize(
    ("changed", "tokens"),
    [
        ("I don't like he's cat, ok (really).", TEXT),
        ("I don't like his cats, ok (really)!", "I do n't like his cats , ok ( really ) !"),
        ("So I don't like he's cat, ok (really).", "So I do n't like he 's cat , ok ( really ) ."),
        ("I don't really like he's cat, ok (really).", "I do n't really like he 's cat , ok ( really ) ."),
        ("I do not like he's cat ok (really).", "I do not like he 's cat ok ( really ) ."),
        ("I can't like he's cat, ok (really)", "I ca n't like he 's cat , ok ( really )"),
        ("", ""),
    ],
)
def test_only_edited_text_is_tokenised_again(changed: str, tokens: str) -> None:
    assert " ".join(detokenise(TEXT.split()).edit(changed)) == tokens


@given(st.lists(st.sampled_from(["a", "b.c", "n't", "'s", ",", "``", "(", '"', "é", "4:x", "don't"]), max_size=12))
def test_an_unchanged_sentence_keeps_its_tokens(tokens: list[str]) -> None:
    sentence = detokenise(tokens)
    assert ["".join(sentence.raw[start:end].split()) for start, end in sentence.spans] == tokens
    assert sentence.edit(sentence.raw) == tuple(tokens)


def test_tokenised_text_is_not_tokenised_again() -> None:
    assert tokenise("can't well-known 3.5, U.S. it's...") == ["ca", "n't", "well-known", "3.5", ",", "U.S.", "it", "'s", "..."]


def test_kept_text_is_split_only_at_spaces() -> None:
    assert join_with_spaces(["It", "costs", "3.4", "dollars", "in", "the", "U.S."]).edit("It costs 3.5 dollars in the U.S.")[2] == "3.5"


def test_marks_of_other_tokenisers_are_kept() -> None:
    assert detokenise(["a", "@-@", "b"]).raw == "a @-@ b"


def test_abbreviations_are_not_split() -> None:
    assert detokenise(["in", "the", "US"]).edit("in the U.S.") == ("in", "the", "U.S.")


@pytest.mark.parametrize(("source", "changed", "edits"), CASES.edits)
def test_edits(source: str, changed: str, edits: list[list[Any]]) -> None:
    assert character_edits(source, changed) == {CharacterEdit(*edit) for edit in edits}


@given(st.text("我你他们好", max_size=9), st.text("我你他们好", max_size=9))
def test_edits_turn_the_source_into_the_changed_text(source: str, changed: str) -> None:
    text = source
    for edit in sorted(character_edits(source, changed), key=lambda edit: (edit.start, edit.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    assert text == changed


def test_a_line_is_compared_with_the_annotator_who_agrees_most() -> None:
    gold = [[character_edits("我坐飞机", "我做飞机"), character_edits("我坐飞机", "我乘飞机")], [character_edits("好", "好")]]
    assert match_characters(["我坐飞机", "好"], ["我 乘飞机", "好了"], gold) == MaxMatch(1, 2, 1)
    assert match_characters(["我坐飞机", "好"], ["我坐飞机", "好"], gold) == MaxMatch(0, 0, 1)
    with pytest.raises(ValueError, match="shorter"):
        match_characters(["好"], [], [])
