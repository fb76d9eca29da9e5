"""BLEU and chrF, computed by sacrebleu."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """The scores of a text by metric name: `values` from 0 to 100, and `signatures`, texts that state how each was computed."""

    values: Mapping[str, float]
    signatures: Mapping[str, str]


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """BLEU and chrF of a corpus with one reference for each line (Post 2018; Popović 2015).

    The keys are "bleu" and "chrf". Raises ValueError for unequal numbers of lines.
    """
    # Imported here because the import is slow.
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} lines and {len(references)} references")
    metrics: dict[str, BLEU | CHRF] = {"bleu": BLEU(), "chrf": CHRF()}
    values = {name: metric.corpus_score(list(hypotheses), [list(references)]).score for name, metric in metrics.items()}
    return Score(values, {name: str(metric.get_signature()) for name, metric in metrics.items()})
