"""ROUGE against values worked out by hand."""

import pytest

from specdec_cli.metrics.rouge import rouge


def test_rouge_of_known_overlap() -> None:
    # Three of four words, and one of three pairs, of each side are the other's; the longest common order is three words.
    values = rouge(["the cat sat here"], ["the cat lay here"]).values
    assert values["rouge1"] == pytest.approx(75)
    assert values["rouge2"] == pytest.approx(100 / 3)
    assert values["rougeLsum"] == pytest.approx(75)


def test_sentences_are_compared_one_by_one() -> None:
    # In another order of sentences, whole-text ROUGE-L would lose one of them.
    assert rouge(["B sleeps now. A eats."], ["A eats. B sleeps now."]).values["rougeLsum"] == pytest.approx(100)


def test_unequal_numbers_of_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="2 texts and 1 references"):
        rouge(["a", "b"], ["a"])
