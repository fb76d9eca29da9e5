"""Edits at the beginnings of wrapped lines: the lines and the structure of the document are kept."""

import pytest

from specdec_cli.documents.formats import Format
from specdec_cli.documents.wrapped import edited_lines, fitted_edits
from specdec_cli.text.edits import find_edits
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.paragraphs import Paragraph, join_paragraphs
from tests.documents.helper import parse


def corrected(content: str, format: Format, output: str) -> str:
    """The document with the edits that turn its only text into `output`."""
    document = parse(content, format)
    (segment,) = document.segments
    return document.corrected([find_edits(segment.text, output)]).decode()


def test_an_edit_that_only_removes_a_line_break_is_left_out() -> None:
    (segment,) = parse("Each lint\n, also contains it.\n", "md").segments
    assert segment.fitted(find_edits(segment.text, "Each lint, also contains it.")) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A list of\nthe big problem.\n", "A list of\nbig problem.\n"),
        ("- A list of\n  the big problem.\n", "- A list of\n  big problem.\n"),
        ("> A list of\n> the big problem.\n", "> A list of\n> big problem.\n"),
        ("A list of\nthe **big** problem.\n", "A list of\n**big** problem.\n"),
    ],
)
def test_the_first_word_of_a_line_is_deleted_with_the_space_after_it(before: str, after: str) -> None:
    (segment,) = parse(before, "md").segments
    output = segment.text.replace("the ", "")
    assert corrected(before, "md", output) == after
    (edit,) = segment.fitted(find_edits(segment.text, output))
    assert (edit.source, edit.text) == ("the ", "")


@pytest.mark.parametrize("rest", ["1. problem.", "- problem.", "# problem.", "> problem.", "<!-- c -->problem."])
def test_no_deletion_makes_a_line_begin_with_the_mark_of_a_block(rest: str) -> None:
    content = f"A list of\nthe {rest}\n"
    (segment,) = parse(content, "md").segments
    assert corrected(content, "md", segment.text.replace("the ", "")) == content


@pytest.mark.parametrize(("word", "rest"), [("", "big problem of houses"), ("the ", "1. problem of houses")])
def test_lines_of_a_joined_paragraph_keep_their_structure(word: str, rest: str) -> None:
    lines = [Line(1, "We have seen a long list of nearly all", "\n", "a"), Line(2, f"the {rest}.", "\n", "a")]
    (paragraph,) = join_paragraphs(lines)
    assert isinstance(paragraph, Paragraph)
    edits = find_edits(paragraph.text, f"We have seen a long list of nearly all {rest}.")
    assert [text for text, _ in edited_lines(paragraph, edits)] == ["We have seen a long list of nearly all", f"{word}{rest}."]
    assert len(fitted_edits(paragraph, edits)) == (not word)
