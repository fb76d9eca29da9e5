"""BLEU with split compounds."""

import pytest

from specdec_cli.metrics.scoring import compound_bleu

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
