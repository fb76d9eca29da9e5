"""GLEU, for grammatical error correction: BLEU with a penalty for source n-grams that should have been changed."""

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import numpy.typing as npt

from specdec_cli.metrics.ngrams import Ngrams, ngrams

ORDER = 4
ITERATIONS = 500


def gleu(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """GLEU of a corpus, from 0 to 100: the mean of 500 scores, each with a random choice (fixed seeds) of one reference for every line.

    Each of `references` has a line for each source line; tokens are separated by white space. Defined in Napoles et al. 2015
    (Ground Truth for Grammatical Error Correction Metrics) and 2016 (GLEU Without Tuning), as reported for JFLEG. The score of a
    choice is 0 if no n-grams of some order match. Raises ValueError for unequal numbers of lines, and without references.
    """
    if not references or any(len(text) != len(sources) for text in (hypotheses, *references)):
        raise ValueError(f"{len(sources)} sources, {len(hypotheses)} lines and {[len(text) for text in references]} references")
    rows = [_line(*texts) for texts in zip(sources, hypotheses, *references, strict=True)]
    statistics = np.array(rows, dtype=np.int64).reshape(len(sources), len(references), 2 + 2 * ORDER)
    lines = np.arange(len(sources))
    choices = (_choose_references(number, len(sources), len(references)) for number in range(ITERATIONS))
    return 100 * float(np.mean([_score(statistics[lines, chosen].sum(axis=0)) for chosen in choices]))


def _line(source: str, hypothesis: str, *references: str) -> list[list[int]]:
    """For each reference of a line: hypothesis and reference length, then matches and n-gram counts of each order."""
    before, after = _ngrams(source), _ngrams(hypothesis)
    return [_compare(before, after, _ngrams(reference)) for reference in references]


def _compare(source: list[Ngrams], hypothesis: list[Ngrams], reference: list[Ngrams]) -> list[int]:
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
