"""Edits of wrapped lines that are checked together, of long lines, and of texts with markup."""

import json

import pytest

from specdec_cli.server.matches import read_annotations
from specdec_cli.server.texts import checked_lines
from specdec_cli.text.edits import apply_edits, find_edits
from tests.tables import tables

CASES = tables(__file__)


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


@pytest.mark.parametrize(
    ("parts", "output", "replaced"),
    [
        (["He have ", "*", "a apple", "*", "."], "He has an apple.", [("have ", "has "), ("a", "an")]),
        (["He have ", "$x$=Dummy", " apple."], "He has Dummy apples.", [("have", "has"), ("apple", "apples")]),
        (["He and", "~= ", "his friend has gone."], "He and his friends have gone.", [("friend has", "friends have")]),
        (["He ha", "*", "ve a dog."], "He has a dog.", []),
        (["I see the ", "*", "the", "*", " dog."], "I see the dog.", []),
    ],
)
def test_edits_are_made_between_markup(parts: list[str], output: str, replaced: list[tuple[str, str]]) -> None:
    annotation: list[dict[str, str | None]] = [{"text": part} for part in parts]
    for index in range(1, len(parts), 2):
        markup, _, shown = parts[index].partition("=")
        annotation[index] = {"markup": markup, "interpretAs": shown or None}
    text = read_annotations(json.dumps({"annotation": annotation}))
    (line,) = checked_lines(text.checked)
    edits = line.between(line.within_lines(find_edits(line.text, output)), text.breaks)
    spans = [(edit, text.original_span(*line.span(edit.start, edit.end))) for edit in edits]
    document = "".join(part.partition("=")[0] for part in parts)
    found = [(document[slice(*span)], edit.text) for edit, span in spans if span is not None]
    assert found == replaced
