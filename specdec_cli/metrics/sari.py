"""SARI, for text simplification: n-grams rightly added, kept and deleted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from specdec_cli.metrics.ngrams import Ngrams, ngrams

ORDER = 4
_Numbers = npt.NDArray[np.float64]


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
    if not references or any(len(text) != len(sources) for text in (hypotheses, *references)):
        raise ValueError(f"{len(sources)} sources, {len(hypotheses)} lines and {[len(text) for text in references]} references")
    sums = np.zeros((3, ORDER, 3))
    for source, hypothesis, *right in zip(*map(_tokens, (sources, hypotheses, *references)), strict=True):
        for order in range(1, ORDER + 1):
            all_right = sum((ngrams(reference, order) for reference in right), Ngrams())
            sums[:, order - 1] += _compare(ngrams(source, order), ngrams(hypothesis, order), all_right, len(right))
    return Sari(*(100 * _scores(sums, original)).tolist())


def _tokens(lines: Sequence[str]) -> list[list[str]]:
    # Imported here because the import is slow.
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenise = Tokenizer13a()  # type: ignore[no-untyped-call]
    return [tokenise(line.lower()).split() for line in lines]


def _compare(source: Ngrams, hypothesis: Ngrams, right: Ngrams, references: int) -> list[tuple[int, int, int]]:
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
    """The scores (3,) of addition, keeping and deletion, from 0 to 1, given the sums (3, ORDER, 3) of `_compare`."""
    precision, recall = _ratio(sums[..., 0], sums[..., 1]), _ratio(sums[..., 0], sums[..., 2])
    each = _ratio(2 * precision * recall, precision + recall)
    if original:
        each[2] = precision[2]
    scores: _Numbers = each.mean(axis=1)
    return scores


def _ratio(share: _Numbers, whole: _Numbers) -> _Numbers:
    ratio: _Numbers = np.divide(share, whole, out=np.zeros_like(share), where=whole > 0)
    return ratio
