"""SARI, for simplified text: what was rightly added, kept and deleted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

ORDER = 4
_Numbers = npt.NDArray[np.float64]
_Counts = Counter[tuple[str, ...]]


@dataclass(frozen=True)
class Sari:
    """How well n-grams are added, kept and deleted, each from 0 to 100."""

    add: float
    keep: float
    delete: float

    @property
    def score(self) -> float:
        """SARI itself: the mean of the three."""
        return (self.add + self.keep + self.delete) / 3


def sari(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]], original: bool = False) -> Sari:
    """SARI of a corpus (Xu et al. 2016) by the definition that EASSE has as its default (Alva-Manchego et al. 2019).

    Each of `references` is a whole text with a line for a source line. Text is lower-cased and tokenised as sacrebleu's
    13a does. N-grams of each length up to ORDER are summed over the corpus; a score is the mean over lengths of F1.
    `original` takes precision, not F1, of what is deleted, as Xu et al. define it (but does not average precision and
    recall over lengths before F1, as in their equations: EASSE does not, nor did the scorer of their experiments).
    Where there is nothing to count, a score is 0: an unchanged source has a third of its `keep`, by either definition.
    Papers that use EASSE give it 20.73 on ASSET's test set and 26.29 on TurkCorpus'.
    Raises ValueError for unequal numbers of lines, or no references.
    """
    if not references or any(len(text) != len(sources) for text in (hypotheses, *references)):
        raise ValueError(f"{len(sources)} sources, {len(hypotheses)} lines and {[len(text) for text in references]} references")
    sums = np.zeros((3, ORDER, 3))
    for source, hypothesis, *right in zip(*map(_tokens, (sources, hypotheses, *references)), strict=True):
        for length in range(1, ORDER + 1):
            sums[:, length - 1] += _compare(_ngrams(length, source), _ngrams(length, hypothesis), _ngrams(length, *right), len(right))
    return Sari(*(100 * _scores(sums, original)).tolist())


def _tokens(lines: Sequence[str]) -> list[list[str]]:
    # Only here, so that nobody else waits for it.
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenise = Tokenizer13a()  # type: ignore[no-untyped-call]
    return [tokenise(line.lower()).split() for line in lines]


def _ngrams(length: int, *sentences: list[str]) -> _Counts:
    counts = _Counts()
    for tokens in sentences:
        counts.update(zip(*(tokens[start:] for start in range(length)), strict=False))
    return counts


def _compare(source: _Counts, hypothesis: _Counts, right: _Counts, references: int) -> list[tuple[int, int, int]]:
    """Of adding, keeping and deleting: how many n-grams are done as they should be, are done, and should be.

    `right` are the n-grams of all references together. One of the source counts as often as there are references, so
    that it should be kept and should be deleted to the share of those that do so. An added one counts once.
    """
    added, new = hypothesis.keys() - source.keys(), right.keys() - source.keys()
    before = [references * count for count in source.values()]
    after = [references * min(count, hypothesis[ngram]) for ngram, count in source.items()]
    stays = [min(references * count, right[ngram]) for ngram, count in source.items()]
    all_of_it, kept, should = sum(before), sum(after), sum(stays)
    return [
        (len(added & new), len(added), len(new)),
        (sum(map(min, after, stays)), kept, should),
        (all_of_it - sum(map(max, after, stays)), all_of_it - kept, all_of_it - should),
    ]


def _scores(sums: _Numbers, original: bool) -> _Numbers:
    """From (3, ORDER, 3) sums the three scores, from 0 to 1."""
    precision, recall = _ratio(sums[..., 0], sums[..., 1]), _ratio(sums[..., 0], sums[..., 2])
    each = _ratio(2 * precision * recall, precision + recall)
    if original:
        each[2] = precision[2]
    scores: _Numbers = each.mean(axis=1)
    return scores


def _ratio(share: _Numbers, whole: _Numbers) -> _Numbers:
    ratio: _Numbers = np.divide(share, whole, out=np.zeros_like(share), where=whole > 0)
    return ratio
