"""Edits of wrapped lines that are checked together."""

import pytest

from specdec_cli.server.paragraphs import checked_lines
from specdec_cli.text.edits import apply_edits, find_edits


@pytest.mark.parametrize(
    ("text", "output", "corrected"),
    [
        (
            "he know what he want\ni think that i am",
            "he knows what he wants I think that I am",
            "he knows what he wants\nI think that I am",
        ),
        ("we have the\nthe dog", "we have the dog", "we have\nthe dog"),
        ("it is here\n, so", "it is here, so", "it is here\n, so"),
        ("I have\na dogs", "I've a dog", "I've\na dog"),
        ("they have\ngo there", "they went there", "they have\ngo there"),
    ],
)
def test_no_edit_replaces_a_line_break(text: str, output: str, corrected: str) -> None:
    (line,) = checked_lines(text)
    edits = line.divided(find_edits(line.text, output))
    assert apply_edits(line.text, edits).split() == corrected.split()
    assert all("\n" not in text[line.place(edit.start) : line.place(edit.end - 1) + 1] for edit in edits)
