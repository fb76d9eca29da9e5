"""Texts in characters that a vocabulary has, and edits in those of the source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.protect.characters import readable

LACKING = "\u00a0\u00ad\u2764\ufe0f\u2019\u201c\u201d\u2013\u00e9\u00ef\u20ac\U0001f600\U0001f601"


def edited(source: str, output: str) -> str:
    """The source with the edits that turn what the model reads into `output`."""
    view = readable(source, LACKING.__contains__)
    return apply_edits(source, view.restored(find_edits(view.text, output)))


@pytest.mark.parametrize(
    ("source", "read", "output", "edited_source"),
    [
        ("He don\u2019t like it.", "He don't like it.", "He doesn't like it.", "He doesn\u2019t like it."),
        ("He say \u201cI has\u201d it.", 'He say "I has" it.', 'He said "I have" it.', "He said \u201cI have\u201d it."),
        ("Our caf\u00e9 have it.", "Our cafe have it.", "Our cafe has it.", "Our caf\u00e9 has it."),
        ("A na\u00efve man", "A naive man", "A native man", "A na\u00efve man"),
        ("I dont \u2013 it\u2019s", "I dont - it's", "I don't - it's", "I don\u2019t \u2013 it\u2019s"),
        ("It are good \U0001f600.", "It are good.", "It is good.", "It is good \U0001f600."),
        ("It are \U0001f600 good\U0001f601", "It are good", "It is good.", "It is \U0001f600 good.\U0001f601"),
        ("\U0001f600 It are.", "It are.", "It is.", "\U0001f600 It is."),
        ("a\U0001f600b are", "a\U0001f600b are", "a\U0001f600b is", "a\U0001f600b is"),
        ("\u20ac5 are", "\u20ac5 are", "\u20ac5 is", "\u20ac5 is"),
        ("well known fact \u2013 yes", "well known fact - yes", "well-known fact - yes", "well-known fact \u2013 yes"),
        ("well known \u2013 a so-called", "well known - a so-called", "well-known - a so-called", "well-known \u2013 a so-called"),
        (
            "It\u2019s so, he's here, I dont.",
            "It's so, he's here, I dont.",
            "It's so, he's here, I don't.",
            "It\u2019s so, he's here, I don't.",
        ),
        ("It\u2019s so, I dont.", "It's so, I dont.", "It's so, I don't.", "It\u2019s so, I don\u2019t."),
        ("He said \u201cyes.", 'He said "yes.', 'He said "yes".', 'He said \u201cyes".'),
        ("a\U0001f600\U0001f601b are", "a\U0001f600\U0001f601b are", "a\U0001f600\U0001f601b is", "a\U0001f600\U0001f601b is"),
        ("He have\u00a0two\u00a0dog.", "He have two dog.", "He has two dogs.", "He has\u00a0two\u00a0dogs."),
        ("He don`t go.", "He don't go.", "He doesn't go.", "He doesn't go."),
        ("He  have   two dog.", "He have two dog.", "He has two dogs.", "He  has   two dogs."),
        ("He  have  no tea", "He have no tea", "He's no tea", "He's  no tea"),
        ("I am  agree  with you", "I am agree with you", "I agree with you", "I  agree  with you"),
        ("  It are", "  It are", "  It is", "  It is"),
        ("I are cof\u00adfee", "I are coffee", "I am coffee", "I am cof\u00adfee"),
        ("a\u2764\ufe0fb are", "a\u2764\ufe0fb are", "a\u2764\ufe0fb is", "a\u2764\ufe0fb is"),
    ],
)
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
