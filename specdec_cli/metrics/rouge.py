"""ROUGE, for summarisation, computed by the package rouge-score (an optional dependency)."""

from collections.abc import Sequence
from importlib.util import find_spec

from specdec_cli.errors import MissingLibraryError
from specdec_cli.metrics.scoring import Score
from specdec_cli.text.segment.sentences import split_sentences

METRICS = ("rouge1", "rouge2", "rougeLsum")


def check_rouge() -> None:
    """Raise UsageError if rouge-score is not installed."""
    if find_spec("rouge_score") is None:
        raise MissingLibraryError("summaries are scored by rouge-score", "summarisation")


def rouge(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """ROUGE-1, ROUGE-2 and ROUGE-Lsum: mean F1 over texts, with stemming, from 0 to 100 (Lin 2004).

    The keys are "rouge1", "rouge2" and "rougeLsum". Raises ValueError for unequal numbers of texts.
    """
    from rouge_score.rouge_scorer import RougeScorer

    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} texts and {len(references)} references")
    # ROUGE-Lsum expects one sentence a line.
    scorer = RougeScorer(METRICS, use_stemmer=True)
    scores = [scorer.score(_lines(right), _lines(text)) for text, right in zip(hypotheses, references, strict=True)]
    values = {name: 100 * sum(one[name].fmeasure for one in scores) / max(len(scores), 1) for name in METRICS}
    return Score(values, dict.fromkeys(METRICS, "f1|stemmed|rouge-score"))


def _lines(text: str) -> str:
    return "\n".join(split_sentences(text).texts)
