"""Scores equal those of sacrebleu."""

import pytest
import sacrebleu

from specdec_cli.metrics.scoring import score

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
