"""Significance of differences in BLEU."""

from itertools import product

import pytest
from sacrebleu.metrics.bleu import BLEU

from specdec_cli.metrics.significance import significance

REFERENCES = [f"the cat number {number} sat on the mat" for number in range(40)]
TRIALS = 2000
WORSE = [line.replace("the mat", "mat") for line in REFERENCES]


def test_equal_translations_do_not_differ_and_worse_ones_do() -> None:
    found = significance({"one": REFERENCES, "same": REFERENCES, "worse": WORSE}, REFERENCES, resamples=200, trials=200)
    assert (found["one"].bootstrap, found["one"].randomisation) == (None, None)
    assert found["one"].bleu == pytest.approx(100)
    assert found["same"].bootstrap == found["same"].randomisation == 1.0
    assert found["worse"].bleu < 90
    for p_value in (found["worse"].bootstrap, found["worse"].randomisation):
        assert p_value is not None and p_value < 0.05


def test_other_words_with_the_same_score_are_no_significant_difference() -> None:
    one, other = (line.replace("sat", word) for line in (REFERENCES[0],) for word in ("lay", "stood"))
    found = significance({"one": [one, *REFERENCES[1:]], "other": [other, *REFERENCES[1:]]}, REFERENCES, resamples=200, trials=200)
    assert found["one"].bleu == found["other"].bleu
    assert found["other"].bootstrap == found["other"].randomisation == 1.0


def test_errors_in_as_many_lines_are_no_significant_difference() -> None:
    one, other = WORSE[:20] + REFERENCES[20:], REFERENCES[:21] + WORSE[21:]
    found = significance({"one": one, "other": other}, REFERENCES, resamples=200, trials=200)
    assert found["one"].bleu != found["other"].bleu
    for p_value in (found["other"].bootstrap, found["other"].randomisation):
        assert p_value is not None and p_value > 0.05


def test_translations_have_a_line_for_each_reference() -> None:
    with pytest.raises(ValueError, match="different numbers of lines"):
        significance({"one": ["a"], "other": ["a", "b"]}, ["a"])


def test_a_single_translation_is_only_scored() -> None:
    (found,) = significance({"one": WORSE}, REFERENCES).values()
    assert 0 < found.bleu < 100
    assert (found.bootstrap, found.randomisation) == (None, None)


@pytest.mark.parametrize("differing", [1, 2, 6])
def test_few_differing_lines_have_the_p_value_of_all_exchanges(differing: int) -> None:
    references = [f"the cat number {number} sat on the mat" for number in range(200)]
    other = [line.replace("the mat", "mat") for line in references[:differing]] + references[differing:]
    found = significance({"one": references, "other": other}, references, resamples=20, trials=TRIALS)["other"].randomisation
    exact = _exact(references, other, differing, references)
    assert found == pytest.approx(exact, abs=4 * (exact * (1 - exact) / TRIALS) ** 0.5 + 1 / TRIALS)


def _exact(one: list[str], other: list[str], differing: int, references: list[str]) -> float:
    """The share of all exchanges of the first `differing` lines that give at least the difference in BLEU of `one` and `other`."""

    def difference(exchanged: tuple[bool, ...]) -> float:
        flags = [*exchanged, *[False] * (len(one) - differing)]
        mixed = [[b if flag != turned else a for a, b, flag in zip(one, other, flags, strict=True)] for turned in (False, True)]
        first, second = (BLEU().corpus_score(lines, [references]).score for lines in mixed)
        return round(float(abs(first - second)), 9)

    observed = difference((False,) * differing)
    return float(sum(difference(each) >= observed for each in product((False, True), repeat=differing)) / 2.0**differing)
