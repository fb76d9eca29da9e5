"""Spaces, invisible characters, accents and letters that a vocabulary lacks."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.text.protect.characters import plain_characters, with_dashes_of_ranges
from tests.variants import chosen


def lacks(character: str) -> bool:
    return not (character.isascii() and character.isprintable()) and character != "\u00fc"


def placed(text: str, model: Callable[[str], str]) -> tuple[str, list[str]]:
    """The output that is chosen, and the texts that its model read."""
    return chosen(variants_with(lacks, text), model)[:2]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("the\u00a0house\u2003is\u2028big", "the house is big"),
        ("cof\u00adfee\u200b and\ufeff tea\x07", "coffee and tea"),
        ("a  house and `some  code`", "a house and `some  code`"),
        ("Mu\u0308ller", "M\u00fcller"),
        ("the \ufb01le", "the file"),
        ("\u2018It\u2019s here,\u2019 he said.", '"It\'s here," he said.'),
        ("the \u201990s and \u2018no", "the '90s and 'no"),
        ("\u2018%s\u2019 and `\u2018x\u2019`", '"%s" and `\u2018x\u2019`'),
        ("`a\u00a0b`\u00a0is", "`a\u00a0b` is"),
        ("\u00e9t\u00e9", "\u00e9t\u00e9"),
        ("Mon\u2013Fri and A \u2013 B", "Mon-Fri and A \u2013 B"),
        ("I don`t, it\u00b4s `a`b` here", "I don't, it's `a`b` here"),
    ],
)
def test_a_model_reads_plain_characters(text: str, plain: str) -> None:
    assert plain_characters(text, lacks) == plain
    assert placed(text, lambda source: source)[0] == plain


@pytest.mark.parametrize(
    ("source", "output", "restored"),
    [
        ("5\u00a0kg, not 15\u00a0g", "5 kg, nicht 15 g", "5\u00a0kg, nicht 15\u00a0g"),
        ("1,200\u202fg", "1.200 Gramm", "1.200\u202fGramm"),
        ("5 dogs of 5\u00a0kg", "5 Hunde von 5 kg", "5 Hunde von 5\u00a0kg"),
        ("the\u00a0house", "das Haus", "das Haus"),
        ("5\u00a0kg", "Kilo", "Kilo"),
    ],
)
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


@pytest.mark.parametrize(
    ("source", "output", "restored"),
    [
        ("Save as\u2026", "Speichern als...", "Speichern als\u2026"),
        ("Well\u2026 no", "Nun, nein", "Nun, nein"),
        ("Well... no\u2026", "Nun... nein...", "Nun... nein..."),
    ],
)
def test_an_ellipsis_is_read_as_dots_and_written_as_in_the_source(source: str, output: str, restored: str) -> None:
    assert placed(source, lambda _: output) == (restored, [source.replace("\u2026", "...")])


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("25\u201330 min", "25-30 Min", "25\u201330 Min"),
        ("$5\u2013$10", "5 $-10 $", "5 $\u201310 $"),
        ("$5\u2013$10", "5$-10 $", "5$\u201310 $"),
        ("Mon\u2013Fri", "Mo-Fr", "Mo-Fr"),
        ("COVID-19, 1\u20132 days", "COVID-19, 1-2 Tage", "COVID-19, 1-2 Tage"),
    ],
)
def test_ranges_have_the_dashes_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_dashes_of_ranges(source, output) == expected


def test_a_range_of_numbers_is_read_with_a_hyphen() -> None:
    assert placed("Wait 25\u201330 minutes.", lambda source: source) == ("Wait 25\u201330 minutes.", ["Wait 25-30 minutes."])


@pytest.mark.parametrize(
    ("text", "output", "written"),
    [
        ("Cut && paste", "Schneiden & kleben", "Schneiden && kleben"),
        ("Cut && paste", "Schneiden und kleben", "Schneiden und kleben"),
        ("I saw... ...him.", "Ich sah... ihn.", "Ich sah... ...ihn."),
    ],
)
def test_two_ampersands_and_two_ellipses_are_written_back(text: str, output: str, written: str) -> None:
    read = plain_characters(text, lacks)
    assert placed(text, lambda _: output)[:2] == (written, [read]) and "&&" not in read and "... ..." not in read
    assert plain_characters("`a && b`", lacks) == "`a && b`"
