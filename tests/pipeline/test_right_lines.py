"""Lines of many kinds that are right, which the shipped corrector leaves as they are, and lines with frequent errors, which it mends."""

import pytest

from specdec_cli.pipeline.corrector import LineCorrector
from tests.source import ROOT
from tests.stored_engine import opened

DATA = ROOT / "tests" / "data"
MENDED = 84
"""Of the 100 lines with errors, those that the corrector must mend."""


@pytest.fixture(scope="module")
def corrector(pytestconfig: pytest.Config) -> LineCorrector:
    assert pytestconfig.cache is not None
    bundle, engine = opened("en-gec", pytestconfig.cache, with_scores=True, mode="balanced")
    return LineCorrector.of_bundle(engine, bundle, mode="balanced")


def test_right_lines_stay(corrector: LineCorrector) -> None:
    lines = (DATA / "right-lines.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 100
    # One at a time: the line before decides whether the first letter may become a capital.
    changed = [(line, found.text) for line in lines for found in corrector.correct([line]) if found.text != line]
    assert changed == []


def test_lines_with_frequent_errors_are_mended(corrector: LineCorrector) -> None:
    pairs = [line.split("\t") for line in (DATA / "wrong-lines.tsv").read_text(encoding="utf-8").splitlines()]
    found = [each.text for each in corrector.correct([pair[0] for pair in pairs])]
    assert len(pairs) == 100
    assert sum(text in right for text, (_, *right) in zip(found, pairs, strict=True)) >= MENDED
    assert found[0] == "I definitely believe in government."


@pytest.mark.parametrize(
    "line", ["Il gatto dorme sulla sedia in cucina.", "Katten ligger på mattan i köket.", "Kot lezy na macie w kuchni"]
)
def test_words_of_other_languages_are_no_misspellings(corrector: LineCorrector, line: str) -> None:
    assert [each.text for each in corrector.correct([line])] == [line]
