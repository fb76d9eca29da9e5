"""Significance of differences in BLEU between translations of the same text, computed by sacrebleu."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    named = [(name, list(lines)) for name, lines in translations.items()]
    first = named[0][1]
    p_values = {}
    for kind, samples in (("bs", resamples), ("ar", trials)):
        test = PairedTest(named, {"BLEU": BLEU(references=[list(references)])}, references=None, test_type=kind, n_samples=samples)
        p_values[kind] = test()[1]["BLEU"]
    found = {}
    for (name, lines), one, other in zip(named, p_values["bs"], p_values["ar"], strict=True):
        # sacrebleu counts only larger differences, so that equal translations would get a p-value near 0.
        equal = name != named[0][0] and lines == first
        found[name] = Significance(float(one.score), *((1.0, 1.0) if equal else (one.p_value, other.p_value)))
    return found
