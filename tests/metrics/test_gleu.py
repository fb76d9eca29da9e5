"""GLEU by hand, and what must hold of it always."""

from math import exp, isclose
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.metrics.gleu import gleu
from specdec_cli.text.lines import read_text_lines

TEXTS = st.lists(st.text("ab ", max_size=12), min_size=1, max_size=4)


def test_by_hand() -> None:
    # 6, 5, 4, 3 n-grams, of which 5, 4, 3, 2 are the reference's, and none the source's alone.
    assert gleu(["a b c d x y"], ["a b c d e z"], [["a b c d e f"]]) == pytest.approx(100 * (5 * 4 * 3 * 2 / (6 * 5 * 4 * 3)) ** 0.25)


def test_what_should_have_been_changed_is_subtracted() -> None:
    # As before, 5, 4, 3, 2 are right; but x, e x, d e x and c d e x stand in the source and not in the reference.
    assert gleu(["a b c d e x"], ["a b c d e x"], [["a b c d e f"]]) == pytest.approx(100 * (4 * 3 * 2 * 1 / (6 * 5 * 4 * 3)) ** 0.25)


def test_a_word_too_often_is_not_wrong_as_such() -> None:
    # The reference has `a`, so only the second of the two is lost, by clipping; `a a` and what holds it are missed.
    source, reference = ["a a b c d e f"], ["a b c d e f"]
    assert gleu(source, source, [reference]) == pytest.approx(100 * (6 / 7 * (5 - 1) / 6 * (4 - 1) / 5 * (3 - 1) / 4) ** 0.25)


def test_no_line_counts_less_than_nothing() -> None:
    # The second line has one match and loses two; it is 0 and not -1.
    sources, references = ["a b c d e", "v w x"], ["a b c d e", "v y z"]
    assert gleu(sources, sources, [references]) == pytest.approx(100 * (5 / 8 * 4 / 6 * 3 / 4 * 2 / 2) ** 0.25)


def test_brevity() -> None:
    assert gleu(["x"], ["a b c d"], [["a b c d e"]]) == pytest.approx(100 * exp(1 - 5 / 4))
    assert gleu(["x", "x"], ["a b c d", ""], [["a b c d", "e"]]) == pytest.approx(100 * exp(1 - 5 / 4))


def test_references_are_drawn_line_by_line() -> None:
    # By either reference a line is right or wrong altogether, so that a draw's score is the share of right ones: half, mostly.
    good, bad = ["a b c d e"] * 4, ["v w x y z"] * 4
    score = gleu(["-"] * 4, good, [good, bad])
    assert score == gleu(["-"] * 4, good, [good, bad])
    assert 50 != score == pytest.approx(50, abs=3)


def test_without_a_match_of_some_length_it_is_nothing() -> None:
    assert gleu(["x"], ["a b c"], [["a b c"]]) == 0
    assert gleu([""], [""], [[""]]) == 0
    assert gleu([], [], [[]]) == 0


@pytest.mark.parametrize(
    ("sources", "hypotheses", "references"), [(["a"], [], [["a"]]), (["a"], ["a"], [["a"], []]), ([], ["a"], [["a"]]), (["a"], ["a"], [])]
)
def test_each_line_needs_its_own(sources: list[str], hypotheses: list[str], references: list[list[str]]) -> None:
    with pytest.raises(ValueError, match=rf"{len(sources)} sources, {len(hypotheses)} lines and \["):
        gleu(sources, hypotheses, references)


@settings(max_examples=10, deadline=None)
@given(TEXTS, st.data())
def test_it_is_a_share(hypotheses: list[str], data: st.DataObject) -> None:
    lines = st.lists(st.text("abc ", max_size=12), min_size=len(hypotheses), max_size=len(hypotheses))
    sources, references = data.draw(lines), data.draw(st.lists(lines, min_size=1, max_size=3))
    score = gleu(sources, hypotheses, references)
    assert 0 <= score <= 100 + 1e-9
    # The same reference twice is that reference, and spaces are not text.
    alone = gleu(sources, hypotheses, references[:1])
    assert isclose(alone, gleu(sources, [f"  {line}\t" for line in hypotheses], [references[0], references[0]]), abs_tol=1e-9)


def test_jfleg(data: Path) -> None:
    folder = data / "en-gec" / "dev.jfleg"
    source, *references = (
        list(read_text_lines(folder / name)) for name in ("source", "reference0", "reference1", "reference2", "reference3")
    )
    # What its authors report for uncorrected text.
    assert round(gleu(source, source, references), 1) == 38.2
