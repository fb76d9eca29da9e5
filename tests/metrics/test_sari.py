"""SARI against scores computed by hand, and its properties."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.metrics.gleu_sari import Sari, sari
from specdec_cli.text.io.lines import read_text_lines

LINES = st.lists(st.text("abc ", max_size=10), min_size=3, max_size=3)


def about(add: float, keep: float, delete: float) -> Any:
    return pytest.approx({"add": add, "keep": keep, "delete": delete})


def test_a_replaced_word_has_the_score_computed_by_hand() -> None:
    # The source is a b c d e; both change d, the reference to x. Of what they share:
    # added 1 of 1, 2 of 2, 3 of 3, 2 of 2; kept 4 of 4, 2 of 2, 1 of 1, 0 of 0; deleted 1 of 1, 2 of 2, 2 of 2, 2 of 2.
    assert asdict(sari(["a b c d e"], ["a b c x e"], [["a b c x e"]])) == about(100, 75, 100)


def test_agreement_is_weighted_by_references() -> None:
    # Unigrams only, so that every score is a quarter of theirs; each of the source counts twice, for two references.
    # Both references keep a, one keeps b, none c; the hypothesis keeps a and b, and adds y, where z, too, could be.
    sources, hypotheses, references = ["a", "b", "c"], ["a", "b", "y"], [["a", "b", "y"], ["a", "z", "y"]]
    # Kept: 4, right 3 of 3. Deleted: c, 2, right 2; should be deleted: 3. Added: y, right 1; should be added: y and z.
    keep, delete, add = 2 * (3 / 4) * 1 / (3 / 4 + 1), 2 * 1 * (2 / 3) / (1 + 2 / 3), 2 * 1 * (1 / 2) / (1 + 1 / 2)
    assert asdict(sari(sources, hypotheses, references)) == about(25 * add, 25 * keep, 25 * delete)
    assert asdict(sari(sources, hypotheses, references, original=True)) == about(25 * add, 25 * keep, 25)


def test_repeated_words_are_counted_as_often_as_they_occur() -> None:
    # With two references, of 6 a 4 are kept and 3 should be; of 4 pairs 2, and 1; of 2 triples none, and none.
    got = sari(["a a a"], ["a a"], [["a"], ["a a"]])
    keep = [2 * 3 / (4 + 3), 2 * 1 / (2 + 1), 0, 0]
    delete = [2 * 2 / (2 + 3), 2 * 2 / (2 + 3), 1, 0]
    assert asdict(got) == about(0, 25 * sum(keep), 25 * sum(delete))


def test_case_is_ignored_and_punctuation_is_tokenised() -> None:
    sources, hypotheses, references = ["Was it red?"], ["it was green."], [["it was green."]]
    assert sari(sources, hypotheses, references) == sari(["was it red ?"], ["It WAS green ."], [["it was green ."]])
    assert sari(sources, sources, [["was it red ?"]]).keep == pytest.approx(100)


def test_the_score_is_the_mean_of_its_parts() -> None:
    assert Sari(30, 60, 0).score == 30


@pytest.mark.parametrize(
    ("sources", "hypotheses", "references"), [(["a"], [], [["a"]]), (["a"], ["a"], [["a"], []]), ([], ["a"], [["a"]]), (["a"], ["a"], [])]
)
def test_unequal_numbers_of_lines_are_refused(sources: list[str], hypotheses: list[str], references: list[list[str]]) -> None:
    with pytest.raises(ValueError, match=rf"{len(sources)} sources, {len(hypotheses)} lines and \["):
        sari(sources, hypotheses, references)


@settings(max_examples=50, deadline=None)
@given(LINES, LINES, st.lists(LINES, min_size=1, max_size=3), st.booleans())
def test_scores_are_from_0_to_100(sources: list[str], hypotheses: list[str], references: list[list[str]], original: bool) -> None:
    got = sari(sources, hypotheses, references, original)
    assert all(0 <= value <= 100 + 1e-9 for value in (got.add, got.keep, got.delete))
    # The order of references and of lines has no effect.
    backwards = sari(sources[::-1], hypotheses[::-1], [text[::-1] for text in references[::-1]], original)
    assert asdict(backwards) == about(got.add, got.keep, got.delete)
    unchanged = sari(sources, sources, references, original)
    assert unchanged.add == unchanged.delete == 0
    assert unchanged.score == pytest.approx(unchanged.keep / 3)


def test_scores_on_asset_are_near_the_published_ones(data: Path) -> None:
    folder = data / "simplification" / "dev.asset"
    source, *references = ([*read_text_lines(folder / name)][:200] for name in ("source", *(f"reference{number}" for number in range(10))))
    unchanged = sari(source, source, references)
    assert (unchanged.add, unchanged.delete) == (0, 0)
    # The whole set has 22.53.
    assert 20 < unchanged.score < 25
    # A human reference has a higher score against the other references.
    assert sari(source, references[0], references[1:]).score > 40
