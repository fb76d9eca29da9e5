"""ROUGE against scores computed by hand."""

import pytest

from specdec_cli.metrics.scoring import rouge


def test_rouge_equals_scores_computed_by_hand() -> None:
    # Three of four words and one of three bigrams match; the longest common subsequence has three words.
    values = rouge(["the cat sat here"], ["the cat lay here"]).values
    assert values["rouge1"] == pytest.approx(75)
    assert values["rouge2"] == pytest.approx(100 / 3)
    assert values["rougeLsum"] == pytest.approx(75)


def test_rouge_lsum_compares_sentences_one_by_one() -> None:
    # With sentences in another order, ROUGE-L of the whole text would miss one of them.
    assert rouge(["B sleeps now. A eats."], ["A eats. B sleeps now."]).values["rougeLsum"] == pytest.approx(100)


def test_unequal_numbers_of_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="2 texts and 1 references"):
        rouge(["a", "b"], ["a"])
