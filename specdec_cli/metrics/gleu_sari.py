"""Scores of n-grams that also read the sources: GLEU for grammatical error correction, and SARI for text simplification."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from specdec_cli.metrics.scoring import Ngrams, ngrams

ORDER = 4
ITERATIONS = 500
_Numbers = npt.NDArray[np.float64]


def _check_lines(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    if not references or any(len(text) != len(sources) for text in (hypotheses, *references)):
        raise ValueError(f"{len(sources)} sources, {len(hypotheses)} lines and {[len(text) for text in references]} references")


def gleu(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """GLEU of a corpus, from 0 to 100: the mean of 500 scores, each with a random choice (fixed seeds) of one reference for every line.

    Each of `references` has a line for each source line; tokens are separated by white space. Defined in Napoles et al. 2015
    (Ground Truth for Grammatical Error Correction Metrics) and 2016 (GLEU Without Tuning), as reported for JFLEG. The score of a
    choice is 0 if no n-grams of some order match. Raises ValueError for unequal numbers of lines, and without references.
    """
    _check_lines(sources, hypotheses, references)
    rows = [_line(*texts) for texts in zip(sources, hypotheses, *references, strict=True)]
    statistics = np.array(rows, dtype=np.int64).reshape(len(sources), len(references), 2 + 2 * ORDER)
    lines = np.arange(len(sources))
    choices = (_choose_references(number, len(sources), len(references)) for number in range(ITERATIONS))
    return 100 * float(np.mean([_score(statistics[lines, chosen].sum(axis=0)) for chosen in choices]))


def _line(source: str, hypothesis: str, *references: str) -> list[list[int]]:
    """For each reference of a line: hypothesis and reference length, then matches and n-gram counts of each order."""
    before, after = _ngrams(source), _ngrams(hypothesis)
    return [_compared_for_gleu(before, after, _ngrams(reference)) for reference in references]


def _compared_for_gleu(source: list[Ngrams], hypothesis: list[Ngrams], reference: list[Ngrams]) -> list[int]:
    counts = [hypothesis[0].total(), reference[0].total()]
    for before, after, right in zip(source, hypothesis, reference, strict=True):
        # The penalty counts only source n-grams that the reference does not have at all.
        missed = sum(count for ngram, count in (before & after).items() if ngram not in right)
        counts += [max((after & right).total() - missed, 0), after.total()]
    return counts


def _ngrams(text: str) -> list[Ngrams]:
    """The n-grams of each order."""
    tokens = text.split()
    return [ngrams(tokens, order) for order in range(1, ORDER + 1)]


def _choose_references(number: int, lines: int, references: int) -> list[int]:
    """The index of a random reference for each line, with the seeds of the authors' script, so that scores are equal."""
    random = Random(101 * number)
    return [int(references * random.random()) for _ in range(lines)]


def _score(sums: npt.NDArray[np.int64]) -> float:
    if not sums.all():
        return 0.0
    length, reference = sums[:2]
    return math.exp(min(0.0, 1 - reference / length) + float(np.log(sums[2::2] / sums[3::2]).mean()))


@dataclass(frozen=True)
class Sari:
    """The scores of added, kept and deleted n-grams, each from 0 to 100."""

    add: float
    keep: float
    delete: float

    @property
    def score(self) -> float:
        """SARI, from 0 to 100: the arithmetic mean of `add`, `keep` and `delete`."""
        return (self.add + self.keep + self.delete) / 3


def sari(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]], original: bool = False) -> Sari:
    """SARI of a corpus (Xu et al. 2016), as computed by EASSE with its defaults (Alva-Manchego et al. 2019).

    Each of `references` has a line for each source line. Text is lower-cased and tokenised by sacrebleu's tokeniser 13a. Counts of
    n-grams of each order from 1 to 4 are summed over the corpus; each score is the mean of F1 over orders, 0 without counts. With
    `original`, the score of deletions is precision instead of F1, as Xu et al. define it. (Their equations also average precision
    and recall over orders before F1; neither EASSE nor their own scorer does.) Unchanged sources score 0 for `add` and `delete`, so
    SARI is a third of `keep`: 20.73 on the test set of ASSET and 26.29 on that of TurkCorpus, as published with EASSE. Raises
    ValueError for unequal numbers of lines, and without references.
    """
    _check_lines(sources, hypotheses, references)
    sums = np.zeros((3, ORDER, 3))
    for source, hypothesis, *right in zip(*map(_tokens, (sources, hypotheses, *references)), strict=True):
        for order in range(1, ORDER + 1):
            all_right = sum((ngrams(reference, order) for reference in right), Ngrams())
            sums[:, order - 1] += _compared_for_sari(ngrams(source, order), ngrams(hypothesis, order), all_right, len(right))
    return Sari(*(100 * _scores(sums, original)).tolist())


def _tokens(lines: Sequence[str]) -> list[list[str]]:
    tokenise = Tokenizer13a()  # type: ignore[no-untyped-call]
    return [tokenise(line.lower()).split() for line in lines]


def _compared_for_sari(source: Ngrams, hypothesis: Ngrams, right: Ngrams, references: int) -> list[tuple[int, int, int]]:
    """For addition, keeping and deletion: the numbers of correct, of proposed and of reference operations on n-grams.

    `right` are the n-grams of all references together. Each source n-gram is counted once for each reference, so that the
    share of references that keep it is right. Each added n-gram is counted once.
    """
    added, new = hypothesis.keys() - source.keys(), right.keys() - source.keys()
    before = [references * count for count in source.values()]
    after = [references * min(count, hypothesis[ngram]) for ngram, count in source.items()]
    stays = [min(references * count, right[ngram]) for ngram, count in source.items()]
    total, kept, right_kept = sum(before), sum(after), sum(stays)
    return [
        (len(added & new), len(added), len(new)),
        (sum(map(min, after, stays)), kept, right_kept),
        (total - sum(map(max, after, stays)), total - kept, total - right_kept),
    ]


def _scores(sums: _Numbers, original: bool) -> _Numbers:
    """The scores (3,) of addition, keeping and deletion, from 0 to 1, given the sums (3, ORDER, 3) of `_compared_for_sari`."""
    precision, recall = _ratio(sums[..., 0], sums[..., 1]), _ratio(sums[..., 0], sums[..., 2])
    each = _ratio(2 * precision * recall, precision + recall)
    if original:
        each[2] = precision[2]
    scores: _Numbers = each.mean(axis=1)
    return scores


def _ratio(share: _Numbers, whole: _Numbers) -> _Numbers:
    ratio: _Numbers = np.divide(share, whole, out=np.zeros_like(share), where=whole > 0)
    return ratio
