"""Significance of differences in BLEU between translations of the same text, with sacrebleu's BLEU and paired bootstrap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

RESAMPLES = 1000
"""Samples of the paired bootstrap (Koehn 2004)."""
TRIALS = 10000
"""Random exchanges of the approximate randomisation (Riezler and Maxwell 2005)."""
_SEED = 12345
_TRIALS_AT_ONCE = 100
"""Exchanges of all lines that are in memory at the same time."""
_ROUNDING = 1e-9
"""Differences in BLEU that are smaller are rounding errors."""


@dataclass(frozen=True)
class Significance:
    """BLEU of a translation, and the probabilities (p-values) of a difference to the first translation of at least its size by chance.

    `bootstrap` is that of the paired bootstrap, `randomisation` that of approximate randomisation; None for the first translation.
    """

    bleu: float
    bootstrap: float | None = None
    randomisation: float | None = None


def significance(
    translations: Mapping[str, Sequence[str]], references: Sequence[str], resamples: int = RESAMPLES, trials: int = TRIALS
) -> dict[str, Significance]:
    """The significance of the difference in BLEU of each translation to the first, by name of the translation.

    Every translation has a line for each of the `references`. Raises ValueError for unequal numbers of lines.
    """
    if any(len(lines) != len(references) for lines in translations.values()):
        raise ValueError("the translations and the references have different numbers of lines")
    names = list(translations)
    if len(names) == 1:
        return {names[0]: Significance(BLEU().corpus_score(list(translations[names[0]]), [list(references)]).score)}
    named: list[tuple[str, Sequence[str]]] = [(name, list(lines)) for name, lines in translations.items()]
    metric = BLEU(references=[list(references)])
    results: Sequence[Any] = PairedTest(named, {"BLEU": metric}, references=None, test_type="bs", n_samples=resamples)()[1]["BLEU"]
    scores = [float(result.score) for result in results]
    found = {names[0]: Significance(scores[0])}
    first = _counts(translations[names[0]], references)
    for name, score, result in zip(names[1:], scores[1:], results[1:], strict=True):
        # sacrebleu counts only larger differences, so that translations with equal scores would get a p-value near 0.
        bootstrap = 1.0 if score == scores[0] else result.p_value
        found[name] = Significance(score, bootstrap, _randomisation(first, _counts(translations[name], references), trials))
    return found


def _randomisation(one: NDArray[np.int64], other: NDArray[np.int64], trials: int) -> float:
    """The p-value of approximate randomisation (Riezler and Maxwell 2005, Figure 1) for the counts of two translations.

    sacrebleu does not count an exchange that gives exactly the observed difference. Few lines often give it, so it is counted here.
    """
    generator = np.random.default_rng(_SEED)
    observed = _difference(one.sum(0), other.sum(0))
    as_large = 0
    for start in range(0, trials, _TRIALS_AT_ONCE):
        exchanged = generator.integers(2, size=(min(_TRIALS_AT_ONCE, trials - start), len(one)))
        for change in exchanged @ (other - one):
            as_large += _difference(one.sum(0) + change, other.sum(0) - change) >= observed - _ROUNDING
    return (as_large + 1) / (trials + 1)


def _difference(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """The absolute difference of the BLEU of two sums of counts."""
    return abs(_bleu(one) - _bleu(other))


def _counts(lines: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
    """Counts of which the sums give BLEU, (lines, 10): matching and all n-grams for n from 1 to 4, and both lengths in tokens."""
    scorer = BLEU()
    scored = [scorer.corpus_score([line], [[reference]]) for line, reference in zip(lines, references, strict=True)]
    return np.array([[*one.counts, *one.totals, one.sys_len, one.ref_len] for one in scored], dtype=np.int64)


def _bleu(counts: NDArray[np.int64]) -> float:
    values = counts.tolist()
    return float(BLEU.compute_bleu(values[:4], values[4:8], values[8], values[9], smooth_method="exp").score)
