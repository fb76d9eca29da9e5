"""Segments: places, edits, lines of documents that are kept, and libraries that are missing."""

import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.formats import FORMATS, Format, format_of
from specdec_cli.documents.segments import Segment, SegmentBuilder
from specdec_cli.documents.wrapped import edited_lines, fitted_edits
from specdec_cli.errors import UsageError
from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.paragraphs import Paragraph, join_paragraphs
from tests.documents.helper import parse, texts, unchanged
from tests.tables import tables

CASES = tables(__file__)

WORDS = st.lists(st.sampled_from(["one", "two", "three", "four"]), min_size=1, max_size=6)


def lines_as_segment(lines: list[list[str]]) -> tuple[str, Segment]:
    """Lines that are joined to one segment, with a mark before each."""
    content = "".join(f"> {' '.join(words)}\n" for words in lines)
    builder, position = SegmentBuilder(content), 2
    for number, words in enumerate(lines):
        end = position + len(" ".join(words))
        builder.text(position, end)
        if number < len(lines) - 1:
            builder.gap(end, end + 3)
        position = end + 3
    segment = builder.build()
    assert segment is not None
    return content, segment


@example([["one"], ["one"], ["one"]], ["two", "two", "two"])
@given(st.lists(WORDS, min_size=1, max_size=4), WORDS)
def test_edits_keep_every_line_and_give_the_words_of_those_that_fit(lines: list[list[str]], other: list[str]) -> None:
    content, segment = lines_as_segment(lines)
    document = TextDocument(Source(content.encode(), "a"), content, [segment])
    edits = find_edits(segment.text, " ".join(other))
    changed = document.corrected([edits]).decode()
    assert changed.count("\n> ") == content.count("\n> ")
    assert all(line.strip() == line and line for line in changed.removeprefix("> ").rstrip("\n").split("\n> "))
    fitted = segment.fitted(edits)
    assert changed.replace("> ", "").split() == apply_edits(segment.text, fitted).split()
    assert segment.fitted(fitted) == fitted
    assert all(edit.source == segment.text[edit.start : edit.end] for edit in fitted)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_places_are_those_of_the_words(lines: list[list[str]]) -> None:
    content, segment = lines_as_segment(lines)
    document = TextDocument(Source(content.encode(), "a"), content, [segment])
    words = [(number, word) for number, line in enumerate(lines, 1) for word in line]
    offset = 0
    for number, word in words:
        line, column = document.place(segment, offset)
        assert line == number
        assert content.split("\n")[line - 1][column - 1 :].startswith(word)
        offset += len(word) + 1


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    with pytest.raises(UsageError, match=r"a\.md: this format needs markdown_it: .* -m pip install 'specdec\[documents\]'"):
        parse("text\n", "md")


def test_formats_are_known_by_the_endings_of_names() -> None:
    found = {
        name: format_of(Path(name))
        for name in ("a.md", "a.MD.gz", "a.pot", "a.xlf", "a.sdlxliff", "a.htm", "a.txt.xz", "a.en", "README", "a.lines")
    }
    assert list(found.values()) == ["md", "md", "po", "xliff", "xliff", "html", "txt", "lines", "lines", "lines"]
    assert {format_of(Path(f"a.{name}")) for name in FORMATS} == set(FORMATS)


@pytest.mark.parametrize(("text", "shown"), CASES.the_links_of_a_menu_are_texts_of_their_own)
def test_the_links_of_a_menu_are_texts_of_their_own(text: str, shown: list[str]) -> None:
    assert texts(parse(text, "html")) == shown


@pytest.mark.parametrize(("text", "shown"), CASES.the_links_of_a_menu_in_markdown_are_texts_of_their_own)
def test_the_links_of_a_menu_in_markdown_are_texts_of_their_own(text: str, shown: list[str]) -> None:
    document = parse(text, "md")
    assert texts(document) == shown
    assert unchanged(document) == text.encode()


def corrected(content: str, format: Format, output: str) -> str:
    """The document with the edits that turn its only text into `output`."""
    document = parse(content, format)
    (segment,) = document.segments
    return document.corrected([find_edits(segment.text, output)]).decode()


def test_an_edit_that_only_removes_a_line_break_is_left_out() -> None:
    (segment,) = parse("Each lint\n, also contains it.\n", "md").segments
    assert segment.fitted(find_edits(segment.text, "Each lint, also contains it.")) == []


@pytest.mark.parametrize(("before", "after"), CASES.the_first_word_of_a_line_is_deleted_with_the_space_after_it)
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
