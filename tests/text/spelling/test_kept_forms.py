"""Forms that are right in some styles and varieties of English, and changes that look alike and are corrections."""

import re

import pytest

from specdec_cli.text.edits import Edit
from specdec_cli.text.spelling.kept_words import changes_form, forms, is_in_small_letters, is_telegraphic, read_forms
from tests.tables import tables

CASES = tables(__file__)

FORMS = read_forms()["form"]
OTHERS = """
kept Set it [in > in the] package.json today.
kept [ > The ]%d files are here.
made He lives [in > in the] house.
kept Bear spotted [in > in the] back garden
made Local man say [no > no.]
kept Killer [whale > whales] seen off coast
made Two [whale > whales] seen off coast
made Children first [too > to] get vaccine
made I [saw > saw a] bear in the garden
"""


def edited(case: str) -> tuple[str, Edit]:
    """The sentence of a case, and the edit in it."""
    before, source, new, after = re.fullmatch(r"(.*)\[(.*) > (.*)\](.*)", case).groups()  # type: ignore[union-attr]
    return f"{before}{source}{after}", Edit(len(before), len(before) + len(source), source, new)


@pytest.mark.parametrize(("place", "case"), [(place, case) for place, form in enumerate(FORMS) for case in form["kept"]])
def test_a_form_is_kept_by_its_own_patterns(place: int, case: str) -> None:
    assert forms()[place].is_changed(*edited(case)) and changes_form(*edited(case))


@pytest.mark.parametrize("case", [case for form in FORMS for case in form.get("made", ())])
def test_edits_that_look_alike_are_made(case: str) -> None:
    assert not changes_form(*edited(case))


@pytest.mark.parametrize("case", OTHERS.strip().splitlines())
def test_headlines_and_words_before_spans_are_kept(case: str) -> None:
    assert changes_form(*edited(case[5:])) == case.startswith("kept")


def test_forms_have_names_cases_and_no_other_fields() -> None:
    names = [form["id"] for form in FORMS]
    assert len(set(names)) == len(names) >= 13
    for form in FORMS:
        assert form["kept"] and form.keys() <= {"id", "edit", "before", "not-before", "after", "over", "kept", "made"}, form["id"]
        assert form.keys() & {"before", "after", "over", "not-before"}, form["id"]


@pytest.mark.parametrize(("text", "expected"), CASES.telegraphic_texts_have_no_articles_and_no_stop)
def test_telegraphic_texts_have_no_articles_and_no_stop(text: str, expected: bool) -> None:
    assert is_telegraphic(text) == expected


@pytest.mark.parametrize(("line", "expected"), CASES.lines_in_small_letters_have_no_capital_and_no_stop)
def test_lines_in_small_letters_have_no_capital_and_no_stop(line: str, expected: bool) -> None:
    assert is_in_small_letters(line) == expected
