"""Properties of corruption for every line and recipe."""

import re
from random import Random
from statistics import fmean, pvariance

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specdec_cli.corruption.corrupter import KINDS, Corrupter, CorruptionRecipe, ErrorCounts, draw_count
from specdec_cli.corruption.tokens import Sentence
from specdec_cli.english.words import word_list

MANY = CorruptionRecipe(0.0, ErrorCounts(0.4, 0.05, 1.0), dict.fromkeys(KINDS, 1.0))
PROTECTED = ["http://example.org/a_b?c=d,e", "www.example.com", "ann.lee@example.org", "3,500", "1990s", "$20.50", "50%", "H5N1", "11:30"]
PROTECTED += ["<b>", "{name}", "%s", "@someone", "snake_case", "example.com/the?an=a", "12-year-old"]
WORDS = word_list(
    "The the a an An I they They're it's don't cats house is are was went have has gone to in of for with and but because quickly "
    "beautiful important children's teachers' information more bigger London Tom NATO McDonald well-known naïve every very reads "
    "wrote writing can not always , . ; : ! ? ( ) ' - … students many two another cannot however weekend thought"
)
MARKS = ['"', "\u2013", "\u201c", "It\u2019s"]
PIECES = st.lists(st.sampled_from([*WORDS, *MARKS, *PROTECTED]), max_size=25)
SPACES = st.sampled_from([" ", " ", " ", "  ", "\u00a0"])
UNTOUCHED = re.compile("|".join(re.escape(piece) for piece in sorted(PROTECTED, key=len, reverse=True)))


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """Random sentences of words, punctuation and protected text."""
    text = ""
    for piece in draw(PIECES):
        text += ("" if not text or piece in ",.;:!?)" else draw(SPACES)) + piece
    return text


@settings(deadline=None, max_examples=150)
@example("The. H5N1", 0)
@given(sentences(), st.integers(0, 2**40))
def test_protected_text_is_kept_and_errors_are_counted(text: str, number: int) -> None:
    corruption = Corrupter(MANY, seed=1).corrupt(text, number)
    assert (corruption.text != text) == bool(corruption.errors)
    assert UNTOUCHED.findall(corruption.text) == UNTOUCHED.findall(text)


@settings(deadline=None, max_examples=150)
@given(st.one_of(sentences(), st.text(max_size=60)), st.integers(0, 2**40), st.integers(0, 5))
def test_the_result_depends_only_on_the_arguments(text: str, number: int, copy: int) -> None:
    corrupter = Corrupter(MANY, seed=3)
    corrupter.corrupt("Another line was first.", 0)
    corruption = corrupter.corrupt(text, number, copy)
    assert corruption == Corrupter(MANY, seed=3).corrupt(text, number, copy)
    if "\n" not in text and "\t" not in text:
        assert "\n" not in corruption.text and "\t" not in corruption.text


@settings(deadline=None, max_examples=100)
@given(sentences(), st.sampled_from(sorted(KINDS)), st.integers(0, 1000))
def test_lines_stay_unchanged_without_rates_or_errors(text: str, kind: str, number: int) -> None:
    for recipe in (
        CorruptionRecipe(),
        CorruptionRecipe(rates=dict.fromkeys(KINDS, 0.0)),
        CorruptionRecipe(clean=1.0, rates={kind: 1.0}),
        CorruptionRecipe(errors=ErrorCounts(mean=0.0), rates={kind: 1.0}),
        CorruptionRecipe(errors=ErrorCounts(limit=0.0), rates={kind: 1.0}),
    ):
        corruption = Corrupter(recipe, seed=1).corrupt(text, number)
        assert (corruption.text, corruption.errors) == (text, ())


@settings(deadline=None, max_examples=150)
@given(st.one_of(sentences(), st.text(max_size=60)))
def test_tokens_have_the_right_offsets(text: str) -> None:
    sentence = Sentence(text)
    end = 0
    for token in sentence.tokens:
        assert text[end : token.start].strip() == ""
        assert text[token.start : token.end] == token.text
        end = token.end
    assert text[end:].strip() == ""
    assert len(sentence.words) == len(sentence.tokens) + 3


def test_seeds_lines_and_copies_have_different_errors() -> None:
    text = "The students have written several interesting letters to their teachers about the weather."
    first, second = Corrupter(MANY, seed=1), Corrupter(MANY, seed=2)
    texts = {first.corrupt(text, 1).text, second.corrupt(text, 1).text, first.corrupt(text, 2).text, first.corrupt(text, 1, 1).text}
    assert len(texts) == 4


def test_the_number_of_errors_follows_the_recipe() -> None:
    random = Random(1)
    errors = ErrorCounts(mean=0.1, variance=0.01, limit=1.0)
    counts = [draw_count(errors, 50, random) for _ in range(20000)]
    assert fmean(counts) == pytest.approx(5.0, rel=0.03)
    # The variance of the Poisson distribution plus that of its mean.
    assert pvariance(counts) == pytest.approx(5.0 + 25.0, rel=0.06)
    assert max(draw_count(ErrorCounts(0.5, 0.1, 0.2), 10, random) for _ in range(200)) == 2
    steady = [draw_count(ErrorCounts(0.1, 0.0, 1.0), 50, random) for _ in range(5000)]
    assert pvariance(steady) == pytest.approx(5.0, rel=0.1)


@pytest.mark.parametrize("variance", [1e-300, 1e-9, 1.0])
def test_extreme_variances_can_be_drawn(variance: float) -> None:
    recipe = CorruptionRecipe(errors=ErrorCounts(1e-3, variance), rates={"comma_drop": 1e-300, "keyboard": 1e300})
    corrupter = Corrupter(recipe, seed=1)
    assert all(set(corrupter.corrupt("Yes, certainly.", number).errors) <= {"comma_drop", "keyboard"} for number in range(50))


def test_a_share_of_lines_stays_unchanged() -> None:
    text = "The students have written several interesting letters."
    recipe = CorruptionRecipe(0.3, ErrorCounts(1.0, 0.0, 1.0), dict.fromkeys(KINDS, 1.0))
    corrupter = Corrupter(recipe, seed=1)
    clean = sum(not corrupter.corrupt(text, number).errors for number in range(1000))
    assert clean == pytest.approx(300, abs=45)
