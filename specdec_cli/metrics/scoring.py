"""Corpus scores by sacrebleu."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """The quality of a text: `values` by metric, from 0 to 100, and the `signatures` that say how they were computed."""

    values: Mapping[str, float]
    signatures: Mapping[str, str]


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """BLEU and chrF of a text with one reference a line (Post 2018; Popović 2015). Raises ValueError for unequal numbers of lines."""
    # Only here, so that nobody else waits for it.
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} lines and {len(references)} references")
    metrics: dict[str, BLEU | CHRF] = {"bleu": BLEU(), "chrf": CHRF()}
    values = {name: metric.corpus_score(list(hypotheses), [list(references)]).score for name, metric in metrics.items()}
    return Score(values, {name: str(metric.get_signature()) for name, metric in metrics.items()})
