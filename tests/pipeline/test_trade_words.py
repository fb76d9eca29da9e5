"""Technical names and titles are left alone by corrections."""

import pytest

from specdec_cli.pipeline.corrector import LineCorrector
from specdec_cli.text.edits import Edit
from specdec_cli.text.shape import is_title, lowers_word
from specdec_cli.text.spelling.kept_words import changes_abbreviation, changes_name, technical_names
from tests import stored_engine
from tests.tables import tables

CASES = tables(__file__)

SENTENCES = ("Install {} on the server.", "We use {} for this project.", "The {} package is broken.", "You need {} to run it.")


@pytest.fixture
def corrector(pytestconfig: pytest.Config) -> LineCorrector:
    """A corrector with the shipped en-gec, in its most careless mode."""
    return stored_engine.corrector(pytestconfig.cache, "thorough")


def test_technical_names_are_left_alone(corrector: LineCorrector) -> None:
    names = sorted(technical_names())[::15]
    lines = [SENTENCES[number % 4].format(name) for number, name in enumerate(names)]
    assert len(names) >= 60
    assert [line.text for name, line in zip(names, corrector.correct(lines), strict=True) if name not in line.text] == []


@pytest.mark.parametrize("line", CASES.names_lengthened_words_and_titles_stay)
def test_names_lengthened_words_and_titles_stay(line: str, corrector: LineCorrector) -> None:
    assert [found.text for found in corrector.correct([line])] == [line]


@pytest.mark.parametrize(("line", "expected"), CASES.misspellings_are_corrected)
def test_misspellings_are_corrected(line: str, expected: str, corrector: LineCorrector) -> None:
    assert [found.text for found in corrector.correct([line])] == [expected]


@pytest.mark.parametrize(("text", "expected"), CASES.titles_have_capitals)
def test_titles_have_capitals(text: str, expected: bool) -> None:
    assert is_title(text) == expected


@pytest.mark.parametrize(("source", "text", "changes", "lowers"), CASES.edits_of_names_and_capitals)
def test_edits_of_names_and_capitals(source: str, text: str, changes: bool, lowers: bool) -> None:
    edit = Edit(0, len(source), source, text)
    assert (changes_name(edit), lowers_word(edit)) == (changes, lowers)


@pytest.mark.parametrize(("text", "source", "changed", "expected"), CASES.letters_of_abbreviations_and_units_stay)
def test_letters_of_abbreviations_and_units_stay(text: str, source: str, changed: str, expected: bool) -> None:
    start = text.index(source)
    assert changes_abbreviation(text, Edit(start, start + len(source), source, changed)) == expected
