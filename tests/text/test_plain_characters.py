"""Spaces, invisible characters, accents and letters that a vocabulary lacks."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.lacking import attempts_with
from specdec_cli.text.plain_characters import plain_characters


def lacks(character: str) -> bool:
    return not (character.isascii() and character.isprintable()) and character != "\u00fc"


def placed(text: str, model: Callable[[str], str]) -> tuple[str, list[str]]:
    """The output, and the texts that were decoded for it."""
    for attempt in attempts_with(lacks, text):
        output = attempt.restore([model(source) for source in attempt.segments.texts])
        if output is not None:
            return output, list(attempt.segments.texts)
    raise AssertionError("the last attempt has no output")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("the\u00a0house\u2003is\u2028big", "the house is big"),
        ("cof\u00adfee\u200b and\ufeff tea\x07", "coffee and tea"),
        ("Mu\u0308ller", "M\u00fcller"),
        ("the \ufb01le", "the file"),
        ("`a\u00a0b`\u00a0is", "`a\u00a0b` is"),
        ("\u00e9t\u00e9", "\u00e9t\u00e9"),
    ],
)
def test_a_model_reads_plain_characters(text: str, plain: str) -> None:
    assert plain_characters(text, lacks) == plain
    assert placed(text, lambda source: source)[0] == plain


def test_a_number_keeps_the_no_break_space_after_it() -> None:
    output, read = placed("It weighs 5\u00a0kg, not 1,200\u202fg or 15\u00a0g.", lambda source: source.replace("1,200 g", "1,200 Gramm"))
    assert output == "It weighs 5\u00a0kg, not 1,200\u202fGramm or 15\u00a0g."
    assert read == ["It weighs 5 kg, not 1,200 g or 15 g."]


def test_a_word_with_lacking_letters_is_kept() -> None:
    def spelled(source: str) -> str:
        return source.replace("\u00e7", "?")

    assert placed("Fran\u00e7ois is here", str.upper)[1] == ["Fran\u00e7ois is here"]
    assert placed("Fran\u00e7ois is here", spelled) == ("Fran\u00e7ois is here", ["K7 is here"])
    assert placed("Fran\u00e7ois's hat", spelled) == ("Fran\u00e7ois's hat", ["K7's hat"])


def test_letters_of_other_scripts_are_left_to_the_model() -> None:
    assert placed("\u043c\u0438\u0440", lambda _: "x") == ("x", ["\u043c\u0438\u0440"])


@given(
    st.text(alphabet="ab \u00a0\u00ad\u0308\u00fc\u00e9u5`", max_size=20),
    st.sampled_from([str.upper, lambda _: "", lambda text: text * 2]),
)
def test_there_is_always_an_output(text: str, model: Callable[[str], str]) -> None:
    assert placed(text, model)[0] is not None
