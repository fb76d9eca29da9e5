"""Texts in characters that a vocabulary has, and edits in those of the source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.edits import Edit, apply_edits, find_edits
from specdec_cli.text.protect.characters import readable
from tests.tables import tables

CASES = tables(__file__)

LACKING = "\u00a0\u00ad\u2764\ufe0f\u2019\u201c\u201d\u2013\u00e9\u00ef\u20ac\U0001f600\U0001f601"


def edited(source: str, output: str) -> str:
    """The source with the edits that turn what the model reads into `output`."""
    view = readable(source, LACKING.__contains__)
    return apply_edits(source, view.restored(find_edits(view.text, output)))


@pytest.mark.parametrize(("source", "read", "output", "edited_source"), CASES.edits_have_the_characters_of_the_source)
def test_edits_have_the_characters_of_the_source(source: str, read: str, output: str, edited_source: str) -> None:
    assert readable(source, LACKING.__contains__).text == read
    assert edited(source, output) == edited_source


def test_characters_of_the_vocabulary_are_read_as_they_are() -> None:
    assert readable("caf\u00e9 \u201cno\u201d \U0001f600", lambda _: False).text == "caf\u00e9 \u201cno\u201d \U0001f600"


def test_offsets_are_moved_by_removed_emoji() -> None:
    assert readable("a \U0001f600 b", LACKING.__contains__).places([0, 1, 4, 5]) == [0, 1, 2, 3]
    assert readable("a \U0001f600", LACKING.__contains__).places([1, 2, 3]) == [1, 1, 1]


@given(st.text(alphabet=LACKING + "ab ", max_size=20))
def test_offsets_are_in_the_text_and_in_order(source: str) -> None:
    view = readable(source, LACKING.__contains__)
    places = view.places(range(len(source) + 1))
    assert places == sorted(places) and places[0] == 0 and places[-1] == len(view.text)


@given(st.text(alphabet="\u2764\ufe0f\u200d\U0001f600\U0001f601", min_size=1, max_size=6))
def test_emoji_are_left_out_as_a_whole_or_not_at_all(emoji: str) -> None:
    assert readable(f"a\u2764{emoji}b", LACKING.__contains__).text == f"a\u2764{emoji}b"
    assert readable(f"a \u2764{emoji}b", LACKING.__contains__).text == "a b"
    assert readable(f"a\u2764{emoji} b", LACKING.__contains__).text == "a b"


@given(st.text(alphabet=LACKING + "ab '\"-.", max_size=20), st.text(alphabet="ab '\"-.", max_size=20))
def test_edits_keep_emoji_and_name_the_text_that_they_replace(source: str, output: str) -> None:
    view = readable(source, LACKING.__contains__)
    edits = view.restored(find_edits(view.text, output))
    assert all(source[edit.start : edit.end] == edit.source for edit in edits)
    changed = apply_edits(source, edits)
    assert [each for each in changed if ord(each) > 0xFFFF] == [each for each in source if ord(each) > 0xFFFF]
    assert apply_edits(source, view.restored(find_edits(view.text, view.text))) == source


@pytest.mark.parametrize("sign", ["\u2192", "\u231a", "\u2b50", "\u2b06", "\u25a0", "\U0001f389"])
def test_a_model_reads_no_emoji_pictographs_and_arrows(sign: str) -> None:
    assert readable(f"this book {sign} It are good", lambda _: True).text == "this book It are good"


def test_marks_of_two_kinds_keep_their_order() -> None:
    view = readable("it's don\u2019t", "\u2019".__contains__)
    assert view.text == "it's don't"
    assert [edit.text for edit in view.restored([Edit(0, 10, "it's don't", "it's can't")])] == ["it's can\u2019t"]
    assert view.restored([Edit(0, 10, "it's don't", "its can't")]) == []
