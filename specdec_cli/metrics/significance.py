"""Significance of differences in BLEU between translations of the same text, computed by sacrebleu."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

RESAMPLES = 1000
"""Samples of the paired bootstrap (Koehn 2004)."""
TRIALS = 10000
"""Random exchanges of the approximate randomisation (Riezler and Maxwell 2005)."""


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
    # Imported here because the import is slow.
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    if any(len(lines) != len(references) for lines in translations.values()):
        raise ValueError("the translations and the references have different numbers of lines")
    names = list(translations)
    if len(names) == 1:
        return {names[0]: Significance(BLEU().corpus_score(list(translations[names[0]]), [list(references)]).score)}
    named: list[tuple[str, Sequence[str]]] = [(name, list(lines)) for name, lines in translations.items()]
    tests: list[Sequence[Any]] = []
    for kind, samples in (("bs", resamples), ("ar", trials)):
        metric = BLEU(references=[list(references)])
        tests.append(PairedTest(named, {"BLEU": metric}, references=None, test_type=kind, n_samples=samples)()[1]["BLEU"])
    found = {}
    for name, one, other in zip(names, *tests, strict=True):
        # sacrebleu counts only larger differences, so that translations with equal scores would get a p-value near 0.
        equal = name != names[0] and one.score == tests[0][0].score
        found[name] = Significance(float(one.score), *((1.0, 1.0) if equal else (one.p_value, other.p_value)))
    return found
