"""GLEU against scores computed by hand, and its properties."""

from math import exp, isclose
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.metrics.gleu_sari import gleu
from specdec_cli.text.io.lines import read_text_lines

TEXTS = st.lists(st.text("ab ", max_size=12), min_size=1, max_size=4)


def test_the_score_equals_one_computed_by_hand() -> None:
    # 6, 5, 4, 3 n-grams, of which 5, 4, 3, 2 are in the reference, and none only in the source.
    assert gleu(["a b c d x y"], ["a b c d e z"], [["a b c d e f"]]) == pytest.approx(100 * (5 * 4 * 3 * 2 / (6 * 5 * 4 * 3)) ** 0.25)


def test_missed_changes_are_subtracted() -> None:
    # As before, 5, 4, 3, 2 are correct; but x, e x, d e x and c d e x are in the source and not in the reference.
    assert gleu(["a b c d e x"], ["a b c d e x"], [["a b c d e f"]]) == pytest.approx(100 * (4 * 3 * 2 * 1 / (6 * 5 * 4 * 3)) ** 0.25)


def test_surplus_words_are_clipped_not_subtracted() -> None:
    # The reference has `a` once, so the second `a` is clipped; `a a` and longer n-grams with it do not match.
    source, reference = ["a a b c d e f"], ["a b c d e f"]
    assert gleu(source, source, [reference]) == pytest.approx(100 * (6 / 7 * (5 - 1) / 6 * (4 - 1) / 5 * (3 - 1) / 4) ** 0.25)


def test_no_line_has_a_negative_score() -> None:
    # The second line has one match and loses two; it is 0 and not -1.
    sources, references = ["a b c d e", "v w x"], ["a b c d e", "v y z"]
    assert gleu(sources, sources, [references]) == pytest.approx(100 * (5 / 8 * 4 / 6 * 3 / 4 * 2 / 2) ** 0.25)


def test_short_hypotheses_have_a_penalty() -> None:
    assert gleu(["x"], ["a b c d"], [["a b c d e"]]) == pytest.approx(100 * exp(1 - 5 / 4))
    assert gleu(["x", "x"], ["a b c d", ""], [["a b c d", "e"]]) == pytest.approx(100 * exp(1 - 5 / 4))


def test_references_are_drawn_for_each_line() -> None:
    # With either reference a line is right or wrong as a whole; the score of a draw is the share of right lines, about half.
    good, bad = ["a b c d e"] * 4, ["v w x y z"] * 4
    score = gleu(["-"] * 4, good, [good, bad])
    assert score == gleu(["-"] * 4, good, [good, bad])
    assert 50 != score == pytest.approx(50, abs=3)


def test_a_missing_match_of_an_order_gives_zero() -> None:
    assert gleu(["x"], ["a b c"], [["a b c"]]) == 0
    assert gleu([""], [""], [[""]]) == 0
    assert gleu([], [], [[]]) == 0


@pytest.mark.parametrize(
    ("sources", "hypotheses", "references"), [(["a"], [], [["a"]]), (["a"], ["a"], [["a"], []]), ([], ["a"], [["a"]]), (["a"], ["a"], [])]
)
def test_unequal_numbers_of_lines_are_refused(sources: list[str], hypotheses: list[str], references: list[list[str]]) -> None:
    with pytest.raises(ValueError, match=rf"{len(sources)} sources, {len(hypotheses)} lines and \["):
        gleu(sources, hypotheses, references)


@settings(max_examples=10, deadline=None)
@given(TEXTS, st.data())
def test_the_score_is_from_0_to_100(hypotheses: list[str], data: st.DataObject) -> None:
    lines = st.lists(st.text("abc ", max_size=12), min_size=len(hypotheses), max_size=len(hypotheses))
    sources, references = data.draw(lines), data.draw(st.lists(lines, min_size=1, max_size=3))
    score = gleu(sources, hypotheses, references)
    assert 0 <= score <= 100 + 1e-9
    # A repeated reference changes nothing, and spaces are ignored.
    alone = gleu(sources, hypotheses, references[:1])
    assert isclose(alone, gleu(sources, [f"  {line}\t" for line in hypotheses], [references[0], references[0]]), abs_tol=1e-9)


def test_uncorrected_jfleg_has_the_published_score(data: Path) -> None:
    folder = data / "en-gec" / "dev.jfleg"
    source, *references = (
        list(read_text_lines(folder / name)) for name in ("source", "reference0", "reference1", "reference2", "reference3")
    )
    # The score of uncorrected text that the authors report.
    assert round(gleu(source, source, references), 1) == 38.2
