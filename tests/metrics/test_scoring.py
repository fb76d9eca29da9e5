"""Scores equal those of sacrebleu and those computed by hand: ROUGE, precision at both ends, repetition, split compounds."""

import pytest
import sacrebleu

from specdec_cli.metrics.scoring import compound_bleu, end_precision, repetition_rate, rouge, score

HYPOTHESES = ["Der Hund bellt die ganze Nacht.", "Wo ist die Haltestelle?", ""]
REFERENCES = ["Der Hund bellt jede Nacht.", "Wo ist die nächste Haltestelle?", "Ja."]


def test_scores_equal_sacrebleu() -> None:
    ours = score(HYPOTHESES, REFERENCES)
    assert ours.values["bleu"] == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score
    assert ours.values["chrf"] == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert 0 < ours.values["bleu"] < ours.values["chrf"] < 100
    assert ours.signatures["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert ours.signatures["chrf"].startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")


def test_unequal_numbers_of_references_are_refused() -> None:
    with pytest.raises(ValueError, match="3 lines and 2 references"):
        score(HYPOTHESES, REFERENCES[:2])


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


@pytest.mark.parametrize(
    ("order", "tokens", "expected"),
    [
        (1, None, 4 / 5),
        (1, 3, 1.0),
        (1, -2, 1 / 2),
        (2, None, 2 / 4),
        (2, 3, 1.0),
        (4, None, 0.0),
        (4, 3, None),  # three tokens have no 4-gram
    ],
)
def test_ngrams_of_a_part_are_counted(order: int, tokens: int | None, expected: float | None) -> None:
    assert end_precision(["a b c d e"], ["a b c x e"], order, tokens) == expected


def test_matches_are_clipped_by_line() -> None:
    assert end_precision(["a a a a"], ["a a b"], 1) == 2 / 4
    assert end_precision(["a", "b"], ["b", "b"], 1) == 1 / 2  # another line's reference does not count
    assert end_precision([""], ["a"], 1) is None


def test_punctuation_is_a_token() -> None:
    assert end_precision(["Ja."], ["Ja!"], 1, -1) == 0.0
    assert end_precision(["Ja."], ["Ja!"], 1, 1) == 1.0


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ([], 0.0),
        ([[], []], 0.0),
        ([[5]], 0.0),
        ([[5, 6, 5, 6]], 0.0),
        ([[5, 5]], 1 / 2),
        ([[5, 5, 5, 6]], 2 / 4),
        ([[5, 6], [6, 7, 7]], 1 / 5),  # repetitions are not counted across sentences
    ],
)
def test_repeated_tokens_are_counted_within_sentences(sentences: list[list[int]], expected: float) -> None:
    assert repetition_rate(sentences) == expected


REFERENCE = ["das Vier-Augen-Prinzip gilt auch heute noch"]


def test_parts_of_compounds_are_tokens() -> None:
    assert compound_bleu(REFERENCE, REFERENCE, "de") == pytest.approx(100)
    # Of 10 tokens, 9 are right: das Vier - Augen - Regel gilt auch heute noch.
    found = compound_bleu(["das Vier-Augen-Regel gilt auch heute noch"], REFERENCE, "de")
    whole = compound_bleu(["das VierAugenRegel gilt auch heute noch"], ["das VierAugenPrinzip gilt auch heute noch"], "de")
    expected = 100 * (9 / 10 * 7 / 9 * 5 / 8 * 3 / 7) ** (1 / 4)
    assert found == pytest.approx(expected, abs=1e-6)
    assert found > whole


def test_a_dash_between_words_is_no_compound() -> None:
    assert compound_bleu(["ja - nein"], ["ja - nein"], "de") == pytest.approx(compound_bleu(["ja x nein"], ["ja x nein"], "de"))


def test_each_line_needs_a_reference() -> None:
    with pytest.raises(ValueError, match="1 lines and 2 references"):
        compound_bleu(["a"], ["a", "b"], "de")
