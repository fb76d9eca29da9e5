"""Lines of many kinds that are right stay as they are: short forms with a full stop, those of chats, and names of dishes."""

import random

import pytest

from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.text.edits import Edit
from specdec_cli.text.spelling.kept_words import changes_chat, changes_shortened
from tests import stored_engine
from tests.drawn import filled
from tests.source import ROOT
from tests.tables import tables

CASES = tables(__file__)

DRAWN = 60


@pytest.fixture(scope="module")
def corrector(pytestconfig: pytest.Config) -> LineCorrector:
    return stored_engine.corrector(pytestconfig.cache)


@pytest.mark.parametrize("patterns", [CASES.stopped, CASES.chat, CASES.dishes])
def test_drawn_right_lines_stay(patterns: list[str], corrector: LineCorrector) -> None:
    draw = random.Random(60)
    drawn = (filled(draw, draw.choice(patterns).strip()) for _ in range(10 * DRAWN))
    lines = list(dict.fromkeys(drawn))[:DRAWN]
    assert len(lines) == DRAWN
    changed = [(line, found.text) for line in lines for found in corrector.correct([line]) if found.text != line]
    assert changed == []


@pytest.mark.parametrize(("text", "source", "new", "changes"), CASES.changes_of_chat)
def test_changes_of_chat(text: str, source: str, new: str, changes: bool) -> None:
    start = text.index(source)
    assert changes_chat(text, Edit(start, start + len(source), source, new)) == changes


@pytest.mark.parametrize(("text", "source", "new", "changes"), CASES.changes_of_shortened_words)
def test_changes_of_shortened_words(text: str, source: str, new: str, changes: bool, corrector: LineCorrector) -> None:
    start = text.index(source)
    assert changes_shortened(text, Edit(start, start + len(source), source, new), corrector._ngrams) == changes


@pytest.mark.parametrize("accent", ["`", "\u00b4", "\u2032", "\uff07"])
def test_accents_in_place_of_apostrophes_are_corrected_with_their_words(accent: str, corrector: LineCorrector) -> None:
    sources = [f"He don{accent}t like it.", f"It{accent}s late, and I don{accent}t know why.", f"She isn{accent}t here."]
    expected = ["He doesn't like it.", "It's late, and I don't know why.", "She isn't here."]
    assert [each.text for each in corrector.correct(sources)] == expected


DATA = ROOT / "tests" / "data"
MENDED = 84
"""Of the 100 lines with errors, those that the corrector must mend."""


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
