"""Scores of edits."""

import pytest

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.pipeline.edit_filter import EditFilter, change_kind, score_edits
from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.edits import Edit, find_edits
from specdec_cli.text.spelling.ngrams import NgramModel
from specdec_cli.text.tokenize.sentencepiece import EOS, Subwords


def scores(
    tokenizer: Subwords, source: str, target: str, log_probabilities: dict[int, float], ngrams: NgramModel | None = None
) -> list[float | None]:
    """The scores of the edits from `source` to `target`. Token n of the target has log probability `log_probabilities[n]`, or 0."""
    ids = [*tokenizer.encode(target), EOS]
    given = tuple(log_probabilities.get(place, 0.0) for place in range(len(ids)))
    output = Hypothesis(0, ids, 1, 0.0, (), given)
    return [edit.score for edit in score_edits(source, find_edits(source, target), output, tokenizer, ngrams)]


def changed_places(tokenizer: Subwords, source: str, target: str) -> range:
    """The places of the tokens of `target` between those that both texts begin with and those that both end with."""
    before, after = tokenizer.encode(source), tokenizer.encode(target)
    same = next(place for place, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1])
    rest = next(place for place, pair in enumerate(zip(before[::-1], after[::-1], strict=False)) if pair[0] != pair[1])
    return range(same, len(after) - rest)


def test_the_first_token_gives_the_score(tokenizer: Subwords) -> None:
    places = changed_places(tokenizer, "ka lo mi", "ka xqzx mi")
    assert len(places) > 2
    assert scores(tokenizer, "ka lo mi", "ka xqzx mi", {places[0]: -0.5}) == [-0.5]
    assert scores(tokenizer, "ka lo mi", "ka xqzx mi", {places[0]: -0.5, places[1]: -0.25}) == [-0.5]
    assert scores(tokenizer, "ka lo mi", "ka xqzx mi", {places[0] - 1: -2.0}) == [0.0]


def test_improbable_tokens_after_the_first_lower_the_score(tokenizer: Subwords) -> None:
    places = changed_places(tokenizer, "ka lo mi", "ka xqzx mi")
    assert scores(tokenizer, "ka lo mi", "ka xqzx mi", {places[1]: -6.0}) == [-2.0]


def test_each_edit_has_its_own_score(tokenizer: Subwords) -> None:
    first = changed_places(tokenizer, "ka lo su mi", "ka xx su mi")[0]
    second = changed_places(tokenizer, "ka xx su mi", "ka xx su mo")[0]
    assert scores(tokenizer, "ka lo su mi", "ka xx su mo", {first: -0.5, second: -0.25}) == [-0.5, -0.25]


def test_the_token_after_a_deletion_gives_its_score(tokenizer: Subwords) -> None:
    kept = len(tokenizer.encode("ka"))
    decided = next(place for place in range(kept, 9) if tokenizer.encode("ka mi")[place] != tokenizer.encode("ka lo mi")[place])
    assert scores(tokenizer, "ka lo mi", "ka mi", {decided: -0.5, decided - 1: -0.25}) == [-0.5]


def test_usual_text_raises_the_score_of_each_edit(tokenizer: Subwords) -> None:
    ngrams = count_ngrams(["ka xx su mi", "ka lo su mi"] * 9)
    unusual, usual = "ka lo su mo", "ka xx su mi"
    without, found = scores(tokenizer, unusual, usual, {1: -0.5}), scores(tokenizer, unusual, usual, {1: -0.5}, ngrams)
    ratios = [ngrams.log_ratio(unusual, edit) for edit in find_edits(unusual, usual)]
    assert abs(ratios[0]) < 1 < ratios[1]
    for score, plain, ratio in zip(found, without, ratios, strict=True):
        assert score is not None
        assert plain is not None
        assert score == pytest.approx(plain + 0.05 * ratio)


@pytest.mark.parametrize(
    ("source", "text", "kind"),
    [
        ("", ",", "mark_inserted"),
        ("end", "end.", "mark_inserted"),
        (",", "", "mark_removed"),
        (";", ".", "mark_replaced"),
        ("", "the ", "word_inserted"),
        ("of ", "", "word_removed"),
        ("in", "at", "word_replaced"),
        ("affect", "effect", None),
        ("i", "I", None),
        ("a lot", "alot", None),
        ("go", "have gone", None),
        ("recieve", "receive", None),
        ("is", "Are", None),
        ("have", "has", None),
        ("is", "has", "word_replaced"),
    ],
)
def test_changes_have_kinds(source: str, text: str, kind: str | None) -> None:
    assert change_kind(source, text) == kind


def test_the_offset_of_its_kind_is_added_to_a_score(tokenizer: Subwords) -> None:
    source, target = "ka lo mi", "ka xqzx mi"
    output = Hypothesis(0, [*tokenizer.encode(target), EOS], 1, 0.0, (), (0.0,) * (len(tokenizer.encode(target)) + 1))
    edits = find_edits(source, target)
    offsets = {"word_replaced": -0.25, "mark_removed": 1.0}
    assert [edit.score for edit in score_edits(source, edits, output, tokenizer, None, offsets)] == [-0.25]


@pytest.mark.parametrize(
    ("source", "text", "keeps"),
    [("very", "", True), ("very old", "old", True), ("very old", "", False), ("in 5", "at 5", True), ("in 5", "at 6", False)],
)
def test_edits_that_lose_a_digit_or_two_words_lose_content(source: str, text: str, keeps: bool) -> None:
    edit = Edit(0, len(source), source, text)
    assert EditFilter().keeps_content_of(edit) == keeps
    assert EditFilter(keeps_content=False).keeps_content_of(edit)
