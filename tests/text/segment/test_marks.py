"""Marks before and after the text of a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.segment.layout import split_marks
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("head", "body", "tail"), CASES.marks_are_split_off)
def test_marks_are_split_off(head: str, body: str, tail: str) -> None:
    assert split_marks(head + body + tail) == (head, body, tail)


@pytest.mark.parametrize(("line", "language", "head"), CASES.the_day_of_a_date_is_no_number_of_a_list)
def test_the_day_of_a_date_is_no_number_of_a_list(line: str, language: str, head: str) -> None:
    assert split_marks(line, language).head == head


@given(st.text(alphabet="ab .-*#>|<>/=\"'{}[]1:\t\\\U0001f389", max_size=40))
def test_the_parts_join_to_the_line(line: str) -> None:
    marked = split_marks(line)
    assert "".join(marked) == line
    assert marked.body == marked.body.strip()


@pytest.mark.parametrize("text", ["- ", " ", "<a ", "<a>", "| ", "# ", "\U0001f389 ", '"a":', "]("])
def test_long_lines_take_little_time(text: str) -> None:
    line = text * 20_000
    assert "".join(split_marks(line)) == line


@pytest.mark.parametrize("line", [f"[{'12, ' * 100_000}3]", "[" + "1" * 400_000, f'x="{"word " * 100_000}" more words'])
def test_long_lists_and_values_take_little_time(line: str) -> None:
    assert split_marks(line) == ("", line, "")
