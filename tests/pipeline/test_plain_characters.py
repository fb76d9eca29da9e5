"""Spaces, invisible characters, accents and letters that a vocabulary lacks."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.text.protect.characters import plain_characters, with_dashes_of_ranges
from tests.tables import tables
from tests.variants import chosen

CASES = tables(__file__)


def lacks(character: str) -> bool:
    return not (character.isascii() and character.isprintable()) and character != "\u00fc"


def placed(text: str, model: Callable[[str], str]) -> tuple[str, list[str]]:
    """The output that is chosen, and the texts that its model read."""
    return chosen(variants_with(lacks, text), model)[:2]


@pytest.mark.parametrize(("text", "plain"), CASES.a_model_reads_plain_characters)
def test_a_model_reads_plain_characters(text: str, plain: str) -> None:
    assert plain_characters(text, lacks) == plain
    assert placed(text, lambda source: source)[0] == plain


@pytest.mark.parametrize(("source", "output", "restored"), CASES.a_number_keeps_the_no_break_space_after_it)
def test_a_number_keeps_the_no_break_space_after_it(source: str, output: str, restored: str) -> None:
    assert placed(source, lambda _: output) == (restored, [source.replace("\u00a0", " ").replace("\u202f", " ")])


def test_a_word_with_lacking_letters_is_kept() -> None:
    def spelled(source: str) -> str:
        return source.replace("\u00e7", "?")

    assert placed("Fran\u00e7ois is here", str.upper)[1] == ["Fran\u00e7ois is here"]
    assert placed("Fran\u00e7ois is here", spelled) == ("Fran\u00e7ois is here", ["K7 is here"])
    assert placed("Fran\u00e7ois's hat", spelled) == ("Fran\u00e7ois's hat", ["K7's hat"])
    assert placed("Fran\u00e72go is here", spelled) == ("Fran\u00e72go is here", ["K7 is here"])
    assert placed("\u00e9a and \u00e9a", lambda source: source.replace("\u00e9a", "so", 1))[1] == ["K7 and K8"]


def test_raised_letters_are_signs() -> None:
    assert placed("2\u207f is 5\u00ba", lambda source: source.replace("\u207f", "n").replace("\u00ba", "o"))[0] == "2\u207f is 5\u00ba"


def test_letters_of_other_scripts_are_left_to_the_model() -> None:
    assert placed("\u043c\u0438\u0440", lambda _: "x") == ("x", ["\u043c\u0438\u0440"])


@given(
    st.text(alphabet="ab \u00a0\u00ad\u0308\u00fc\u00e9u5`", max_size=20),
    st.sampled_from([str.upper, lambda _: "", lambda text: text * 2]),
)
def test_there_is_always_an_output(text: str, model: Callable[[str], str]) -> None:
    assert placed(text, model)[0] is not None


@pytest.mark.parametrize(("source", "output", "restored"), CASES.an_ellipsis_is_read_as_dots_and_written_as_in_the_source)
def test_an_ellipsis_is_read_as_dots_and_written_as_in_the_source(source: str, output: str, restored: str) -> None:
    assert placed(source, lambda _: output) == (restored, [source.replace("\u2026", "...")])


@pytest.mark.parametrize(("source", "output", "expected"), CASES.ranges_have_the_dashes_of_the_source)
def test_ranges_have_the_dashes_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_dashes_of_ranges(source, output) == expected


def test_a_range_of_numbers_is_read_with_a_hyphen() -> None:
    assert placed("Wait 25\u201330 minutes.", lambda source: source) == ("Wait 25\u201330 minutes.", ["Wait 25-30 minutes."])


@pytest.mark.parametrize(("text", "output", "written"), CASES.two_ampersands_and_two_ellipses_are_written_back)
def test_two_ampersands_and_two_ellipses_are_written_back(text: str, output: str, written: str) -> None:
    read = plain_characters(text, lacks)
    assert placed(text, lambda _: output)[:2] == (written, [read]) and "&&" not in read and "... ..." not in read
    assert plain_characters("`a && b`", lacks) == "`a && b`"
