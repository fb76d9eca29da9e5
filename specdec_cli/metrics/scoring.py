"""Scores of outputs without their sources: BLEU, chrF, ROUGE, precision at both ends, and repetition."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacremoses import MosesTokenizer

from specdec_cli.errors import MissingLibraryError
from specdec_cli.text.segment.sentences import split_sentences

Ngrams = Counter[tuple[str, ...]]


def ngrams(tokens: Sequence[str], order: int) -> Ngrams:
    """How often each n-gram of `order` tokens occurs in `tokens`."""
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


@dataclass(frozen=True)
class Score:
    """The scores of a text by metric name: `values` from 0 to 100, and `signatures`, texts that state how each was computed."""

    values: Mapping[str, float]
    signatures: Mapping[str, str]


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """BLEU and chrF of a corpus with one reference for each line (Post 2018; Popović 2015).

    The keys are "bleu" and "chrf". Raises ValueError for unequal numbers of lines.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} lines and {len(references)} references")
    metrics: dict[str, BLEU | CHRF] = {"bleu": BLEU(), "chrf": CHRF()}
    values = {name: metric.corpus_score(list(hypotheses), [list(references)]).score for name, metric in metrics.items()}
    return Score(values, {name: str(metric.get_signature()) for name, metric in metrics.items()})


# The hyphen between two parts of a word becomes a token of its own.
_HYPHEN = re.compile(r"(?<=\S)-(?=\S)")


def compound_bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> float:
    """BLEU (0 to 100) of tokens of the Moses tokeniser for `language`, where a hyphen inside a word is a token of its own.

    Papers on WMT14 report it (Vaswani et al. 2017; Ghazvininejad et al. 2019). Raises ValueError for unequal numbers of lines.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} lines and {len(references)} references")
    tokenise = _tokeniser(language)
    # The lines are tokenised here, so that sacrebleu only splits at spaces.
    metric = BLEU(tokenize="none", force=True)
    return float(metric.corpus_score([tokenise(line) for line in hypotheses], [[tokenise(line) for line in references]]).score)


def _tokeniser(language: str) -> Callable[[str], str]:
    moses: Any = MosesTokenizer(lang=language)  # type: ignore[no-untyped-call]

    def tokenise(line: str) -> str:
        text = str(moses.tokenize(line, return_str=True, escape=False))
        return _HYPHEN.sub(" ##AT##-##AT## ", text)

    return tokenise


def end_precision(hypotheses: Sequence[str], references: Sequence[str], order: int, tokens: int | None = None) -> float | None:
    """The share (0 to 1) of the hypotheses' n-grams of size `order` that the reference of their line has, clipped as in BLEU
    (Imamura and Sumita 2020, Table 3).

    `tokens` limits each hypothesis to its first tokens, or to its last ones if it is negative (None: all tokens). Tokens are those of
    BLEU (13a). None if no hypothesis has an n-gram. Raises ValueError for unequal numbers of lines.
    """
    tokenise: Callable[[str], str] = Tokenizer13a()  # type: ignore[no-untyped-call]
    found = total = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        words = tokenise(hypothesis).split()
        if tokens is not None:
            words = words[:tokens] if tokens > 0 else words[tokens:]
        ours = ngrams(words, order)
        found += (ours & ngrams(tokenise(reference).split(), order)).total()
        total += ours.total()
    return found / total if total else None


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


def repetition_rate(sentences: Iterable[Sequence[int]]) -> float:
    """The share (0 to 1) of all tokens that equal the previous token of their sentence; 0 without tokens (Xia et al. 2022, Table 9).

    `sentences` are token ids.
    """
    tokens = repeated = 0
    for ids in sentences:
        tokens += len(ids)
        repeated += sum(first == second for first, second in pairwise(ids))
    return repeated / tokens if tokens else 0.0
