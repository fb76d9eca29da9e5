"""MaxMatch against counts by hand, and its properties."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.metrics.max_match import MaxMatch, max_match
from specdec_cli.text.corpus.parallel import AnnotatedSentence, GoldEdit, apply_gold_edits, read_m2

WORDS = st.lists(st.sampled_from("abc"), max_size=7).map(tuple)


def edit(start: int, end: int, *corrections: str) -> GoldEdit:
    return GoldEdit(start, end, tuple(tuple(text.split()) for text in corrections))


def annotated(source: str, *annotators: list[GoldEdit]) -> AnnotatedSentence:
    return AnnotatedSentence(tuple(source.split()), {number: tuple(edits) for number, edits in enumerate(annotators)})


def counts(source: str, hypothesis: str, *edits: GoldEdit) -> tuple[int, int, int]:
    got = max_match([hypothesis], [annotated(source, [*edits])])
    return got.correct, got.proposed, got.gold


@st.composite
def corrected(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[GoldEdit, ...]]:
    """A source of distinct words, and edits that replace words, far enough apart not to be merged."""
    source = tuple(f"s{number}" for number in range(draw(st.integers(0, 16))))
    places = [place for place in range(0, len(source) + 1, 5) if draw(st.booleans())]
    edits = []
    for place in places:
        end = min(len(source), place + draw(st.integers(0, 2)))
        new = tuple(f"n{place}{number}" for number in range(draw(st.integers(int(end == place), 2))))
        edits.append(GoldEdit(place, end, (new,)))
    return source, tuple(edits)


def test_the_score_equals_one_computed_by_hand() -> None:
    gold = [edit(1, 2, "has", "had"), edit(5, 6, "times"), edit(7, 7, "!")]
    assert counts("He have seen it many time .", "He had seen it many time so .", *gold) == (1, 2, 3)


@pytest.mark.parametrize(
    ("gold", "correct", "proposed"),
    [
        ([edit(0, 4, "x b c y")], 1, 1),
        ([edit(0, 1, "x"), edit(3, 4, "y")], 2, 2),
        ([edit(0, 3, "x b c"), edit(3, 4, "y")], 2, 2),
        ([edit(0, 1, "x")], 1, 2),
        ([edit(0, 1, "z")], 0, 1),
    ],
)
def test_the_alignment_with_most_matches_is_chosen(gold: list[GoldEdit], correct: int, proposed: int) -> None:
    # Two changed words with two unchanged between them: one or two edits, as annotated; one without annotation.
    assert counts("a b c d", "x b c y", *gold) == (correct, proposed, len(gold))


def test_a_moved_word_matches_the_annotators_edits() -> None:
    assert counts("a b", "b c", edit(0, 1, ""), edit(2, 2, "c")) == (2, 2, 2)
    assert counts("a b", "b c", edit(0, 2, "b c")) == (1, 1, 1)


def test_an_edit_includes_at_most_two_unchanged_words() -> None:
    assert counts("a b c d", "x b c y", edit(0, 4, "x b c y")) == (1, 1, 1)
    assert counts("a b c d e", "x b c d y", edit(0, 5, "x b c d y")) == (0, 2, 1)
    assert counts("a b c d e f g", "x b y d z f w") == (0, 2, 0)


def test_words_around_a_change_may_belong_to_the_edit() -> None:
    assert counts("a b c d", "a b x d", edit(1, 4, "b x d")) == (1, 1, 1)


def test_an_insertion_matches_once() -> None:
    assert counts("a", "x x a", edit(0, 0, "x")) == (1, 2, 1)
    assert counts("a", "x y a", edit(0, 0, "x"), edit(0, 0, "y")) == (2, 2, 2)
    assert counts("a", "y x a", edit(0, 0, "x"), edit(0, 0, "y")) == (1, 2, 2)


def test_the_annotator_with_the_best_running_score_is_chosen() -> None:
    # F0.5 is 1.25 correct / (proposed + gold / 4). First: both 0, but the second annotator has less gold.
    first = annotated("a b c d", [edit(0, 1, "x"), edit(3, 4, "y")], [edit(1, 2, "z")])
    assert max_match(["a b c d"], [first]) == MaxMatch(0, 0, 1)
    # Second: 1.25 / (1 + 1) with the first annotator, 2.5 / (2 + 1.25) with the second.
    second = annotated("a b c d e f g h", [edit(0, 1, "x")], [edit(0, 1, "x"), edit(7, 8, "y")])
    assert max_match(["a b c d", "x b c d e f g y"], [first, second]) == MaxMatch(2, 2, 3)
    assert max_match(["a b c d", "x b c d e f g h"], [first, second]) == MaxMatch(1, 1, 2)


def test_scores_are_percentages() -> None:
    got = MaxMatch(2, 4, 8)
    assert (got.precision, got.recall) == (50, 25)
    assert got.f05 == pytest.approx(1.25 * 50 * 25 / (0.25 * 50 + 25))
    assert (MaxMatch(0, 0, 3).precision, MaxMatch(0, 0, 3).recall, MaxMatch(0, 0, 3).f05) == (100, 0, 0)
    assert (MaxMatch(0, 3, 0).precision, MaxMatch(0, 3, 0).recall, MaxMatch(0, 3, 0).f05) == (0, 100, 0)
    assert MaxMatch(0, 0, 0).f05 == 100


def test_unequal_numbers_of_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="1 lines and 2 annotated sentences"):
        max_match(["a"], [annotated("a", []), annotated("", [])])
    assert max_match([], []) == MaxMatch(0, 0, 0)


def test_long_repetitive_lines_take_little_time() -> None:
    source, hypothesis = "there is a risk of that , " * 15, "there is no such risk , " * 30
    got = max_match([hypothesis], [annotated(source, [edit(2, 3, "no such")])])
    assert got.correct == got.gold == 1


@given(corrected())
def test_corrections_of_an_annotator_are_all_correct(case: tuple[tuple[str, ...], tuple[GoldEdit, ...]]) -> None:
    source, edits = case
    got = max_match(
        [" ".join(apply_gold_edits(source, edits))], [AnnotatedSentence(source, {0: edits, 1: (GoldEdit(0, 0, (("never",),)),)})]
    )
    assert got == MaxMatch(len(edits), len(edits), len(edits))


@settings(deadline=None)
@given(
    WORDS, WORDS, st.lists(st.integers(0, 7), unique=True, max_size=4).map(sorted), st.lists(WORDS.map(lambda words: words[:2]), min_size=4)
)
def test_counts_are_consistent(source: tuple[str, ...], hypothesis: tuple[str, ...], cuts: list[int], new: list[tuple[str, ...]]) -> None:
    spans = [(start, end) for start, end in pairwise(cuts) if end <= len(source)]
    gold = tuple(GoldEdit(start, end, (words,)) for (start, end), words in zip(spans, new, strict=False))
    got = max_match([" ".join(hypothesis)], [AnnotatedSentence(source, {0: gold})])
    assert got.gold == len(gold)
    assert 0 <= got.correct <= min(got.proposed, got.gold)
    assert (got.proposed == 0) == (source == hypothesis)
    assert got.proposed <= len(source) + len(hypothesis)


def test_annotators_of_cweb_have_full_scores(data: Path) -> None:
    gold = list(read_m2(data / "en-gec" / "dev.cweb-g.m2"))
    assert len(gold) == 3867
    part = gold[:150]
    unchanged = max_match([" ".join(one.source) for one in part], part)
    assert (unchanged.precision, unchanged.recall) == (100, 0)
    for annotator in (0, 1):
        got = max_match([" ".join(apply_gold_edits(one.source, one.annotators[annotator])) for one in part], part)
        assert (got.precision, got.recall) == (100, 100)
