"""Corpus scores by sacrebleu."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """BLEU and chrF, both from 0 to 100, and the signatures that say how they were computed."""

    bleu: float
    chrf: float
    signatures: dict[str, str]


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Score one text with one reference a line (Post 2018; Popović 2015). Raises ValueError for unequal numbers of lines."""
    # Only here, so that nobody else waits for it.
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} lines and {len(references)} references")
    bleu, chrf = BLEU(), CHRF()
    values = [metric.corpus_score(list(hypotheses), [list(references)]).score for metric in (bleu, chrf)]
    return Score(values[0], values[1], {"bleu": str(bleu.get_signature()), "chrf": str(chrf.get_signature())})
