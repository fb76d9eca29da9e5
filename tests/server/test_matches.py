"""Edits become matches: at least a character wide, without overlaps, with LanguageTool's fields, also in wrapped and long lines."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.error_types.annotation import with_types
from specdec_cli.server.matches import match_of, read_annotations, without_last_stop, without_overlaps
from specdec_cli.server.texts import checked_lines
from specdec_cli.text.edits import Edit, apply_edits, find_edits
from tests.tables import tables

CASES = tables(__file__)

WORDS = st.lists(st.sampled_from(["a", "the", "man", ",", "!", "went", "go", "😀"]), max_size=10).map(" ".join)


@given(WORDS, WORDS)
def test_matches_make_the_same_correction(source: str, changed: str) -> None:
    edits = tuple(find_edits(source, changed))
    wide = without_overlaps(source, edits)
    assert all(one.end <= two.start for one, two in pairwise(wide))
    assert all(edit.start < edit.end or not source for edit in wide)
    if len(wide) == len(edits) and source:
        assert apply_edits(source, wide) == apply_edits(source, edits)


def test_insertions_are_widened_over_a_word() -> None:
    source = "He went school."
    (edit,) = without_overlaps(source, tuple(find_edits(source, "He went to school.")))
    assert source[edit.start : edit.end].strip() and apply_edits(source, [edit]) == "He went to school."


@pytest.mark.parametrize(("source", "changed", "kept"), CASES.a_text_of_one_sentence_needs_no_last_stop)
def test_a_text_of_one_sentence_needs_no_last_stop(source: str, changed: str, kept: str) -> None:
    assert apply_edits(source, without_last_stop(source, find_edits(source, changed))) == kept


def test_edits_that_touch_are_both_reported() -> None:
    touching, overlapping = [Edit(0, 2, "He", "She"), Edit(2, 4, " a", " b")], [Edit(0, 3, "He ", "She "), Edit(2, 4, " a", " b")]
    assert without_overlaps("He a", touching) == touching
    assert without_overlaps("He a", overlapping) == overlapping[:1]


def test_matches_have_the_fields_of_languagetool() -> None:
    source = "Hello. " + "x" * 60 + " 😀 he go home. Bye."
    (edit,) = find_edits(source, source.replace(" go ", " goes "))
    match = match_of(source, edit, (3, 5))
    context = match["context"]
    units = context["text"].encode("utf-16-le")[2 * context["offset"] : 2 * (context["offset"] + context["length"])]
    assert units.decode("utf-16-le") == "go"
    assert context["text"].startswith("...") and match["sentence"].endswith("home.")
    assert (match["offset"], match["length"], match["replacements"]) == (3, 2, [{"value": "goes"}])
    assert match["rule"]["category"]["id"] == "GRAMMAR" and "goes" in match["message"]


def test_rules_and_categories_follow_the_type_of_the_error() -> None:
    pairs = [
        ("i am", "I am"),
        ("Well I", "Well, I"),
        ("a an", "an"),
        ("a book", "a  book"),
        ("a  cat", "acat"),
        ("I recieve it", "I receive it"),
    ]
    edits = [edit for source, changed in pairs for edit in with_types(source, find_edits(source, changed))]
    found = [match_of(edit.source, edit, (0, 1))["rule"] for edit in edits]
    assert [each["category"]["id"] for each in found] == ["CASING", "PUNCTUATION", "GRAMMAR", "PUNCTUATION", "TYPOS"]
    assert [each["id"] for each in found][-2:] == ["SPECDEC_R_ORTH", "SPECDEC_R_SPELL"]
    (edit,) = with_types("the the man", find_edits("the the man", "the man"))
    assert match_of("the the man", edit, (0, 1))["message"] == "An article is not needed: delete \u201cthe\u201d"


@pytest.mark.parametrize(("text", "output", "corrected"), CASES.no_edit_replaces_a_line_break)
def test_no_edit_replaces_a_line_break(text: str, output: str, corrected: str) -> None:
    (line,) = checked_lines(text)
    edits = line.within_lines(find_edits(line.text, output))
    assert apply_edits(line.text, edits).split() == corrected.split()
    assert all("\n" not in text[slice(*line.span(edit.start, edit.end))] for edit in edits)


def test_no_sentence_begins_inside_a_long_one() -> None:
    first, second = checked_lines("and we go on " * 60)
    edits = find_edits(second.text, "A" + second.text[1:])
    assert (first.continues, second.continues, len(edits), second.within_lines(edits)) == (False, True, 1, [])
    _, following = checked_lines("We went home. " * 30 + "he was there. " * 30)
    assert not following.continues


@pytest.mark.parametrize(("parts", "output", "replaced"), CASES.edits_are_made_between_markup)
def test_edits_are_made_between_markup(parts: list[str], output: str, replaced: list[list[str]]) -> None:
    annotation: list[dict[str, str | None]] = [{"text": part} for part in parts]
    for index in range(1, len(parts), 2):
        markup, _, shown = parts[index].partition("=")
        annotation[index] = {"markup": markup, "interpretAs": shown or None}
    text = read_annotations(json.dumps({"annotation": annotation}))
    (line,) = checked_lines(text.checked)
    edits = line.between(line.within_lines(find_edits(line.text, output)), text.breaks)
    spans = [(edit, text.original_span(*line.span(edit.start, edit.end))) for edit in edits]
    document = "".join(part.partition("=")[0] for part in parts)
    found = [[document[slice(*span)], edit.text] for edit, span in spans if span is not None]
    assert found == replaced
