"""Paragraphs of several lines are joined, and their output wrapped again."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.paragraphs import Paragraph, join_paragraphs, join_wrapped, rewrapped
from tests.tables import tables

CASES = tables(__file__)


def lines_of(text: str) -> list[Line]:
    return [Line(number, line, "\n", f"stdin, line {number}") for number, line in enumerate(text.split("\n"), 1)]


@pytest.mark.parametrize(("text", "joined"), CASES.the_lines_of_a_paragraph_are_joined)
def test_the_lines_of_a_paragraph_are_joined(text: str, joined: list[str]) -> None:
    assert [line.text for line in join_paragraphs(lines_of(text))] == joined


def test_a_paragraph_is_wrapped_at_its_width() -> None:
    (line,) = join_paragraphs(lines_of("> one two three\n> four five"))
    assert isinstance(line, Paragraph) and line.width == len("> one two three")
    assert list(rewrapped(line, "> eins zwei drei vier f\u00fcnf")) == [("> eins zwei", "\n"), ("> drei vier", "\n"), ("> f\u00fcnf", "\n")]
    (item,) = join_paragraphs(lines_of("- one two\n  three"))
    assert [text for text, _ in rewrapped(item, "- eins zwei drei")] == ["- eins", "  zwei", "  drei"]


def test_lines_of_different_files_are_not_joined() -> None:
    first, second = (Line(1, "one two three", "\n", name, Path(name)) for name in "ab")
    assert list(join_paragraphs([first, second])) == [first, second]


@pytest.mark.parametrize("join", [join_paragraphs, join_wrapped])
def test_lines_before_an_unreadable_one_are_yielded(join: Callable[[Iterable[Line]], Iterator[Line]]) -> None:
    def read() -> Iterator[Line]:
        yield from lines_of("One two.\nThree four.")
        raise InputError("stdin, line 3: not valid UTF-8")

    found: list[str] = []
    with pytest.raises(InputError, match="line 3"):
        for line in join(read()):
            found += [text for text, _ in rewrapped(line, line.text)]
    assert found == ["One two.", "Three four."]


@given(st.text(alphabet="ab .->#\n\t|12", max_size=80))
def test_an_unchanged_paragraph_keeps_its_lines(text: str) -> None:
    assert "\n".join(one for line in join_paragraphs(lines_of(text)) for one, _ in rewrapped(line, line.text)) == text
