"""Marks before and after the text of a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.segment.layout import split_marks


@pytest.mark.parametrize(
    ("head", "body", "tail"),
    [
        ("", "Plain prose, and nothing else.", ""),
        ("  ", "Indented.", " \t"),
        ("% ", "this are a comment", ""),
        ("- ", "He have a car", ""),
        ("  - [x] ", "Call my mother.", ""),
        ("...", "maybe not.", ""),
        ("- \u2026 ", "but why?", ""),
        ("", "... ...", ""),
        ("> > ", "I do not know.", ""),
        ("## ", "What is new?", " ##"),
        ("/* ", "a comment", " */"),
        ("<!-- ", "a comment", " -->"),
        ('"""', "Read it.", '"""'),
        ("1. ", "First", ""),
        (".. ", "a comment", ""),
        (".. note:: ", "Be careful.", ""),
        ("  :param int size: ", "The size of it", ""),
        ("", "It is: a house", ""),
        ("(2) ", "Second", ""),
        ("| ", "Name | Age", " |"),
        ("2024-05-01 12:00:01,123 ERROR server: ", "No answer", ""),
        ("May  1 12:00:01 host sshd[123]: ", "Closed.", ""),
        ("src/main.c:10:5: error: ", "no such file", ""),
        ('"title": "', "Hello, you", '",'),
        ('msgstr "', "Save", '"'),
        ('"', "A line.", '\\n"'),
        ("greeting=", "Good morning, Tom", ""),
        ("<p>", "This is <b>good</b>.", "</p>"),
        ("", "<b>Save</b> your file.", ""),
        ("\\section{", "How to install", "}"),
        ("\U0001f389 ", "Great!", " \U0001f389"),
        ("", '"I like cards." "Me, too."', ""),
        ("", "-5 degrees", ""),
        ("", "2.5 million people", ""),
        ("", "A. Smith came.", ""),
        ("", "(916) is the code", ""),
        ("   ", "", ""),
        ("12/05/2024, 10:15 - Anna Smith: ", "Where are you?", ""),
        ("9/18/24, 2:45 PM - +49 170 1234567: ", "At home", ""),
        ("18.09.24, 14:45 - ", "Anna left: she is tired.", ""),
    ],
)
def test_marks_are_split_off(head: str, body: str, tail: str) -> None:
    assert split_marks(head + body + tail) == (head, body, tail)


@pytest.mark.parametrize(
    ("line", "language", "head"),
    [
        ("3. Oktober ist Feiertag.", "de", ""),
        ("- 26. Januar um 18:00 Uhr.", "de", "- "),
        ("1. Mai: frei", "de", ""),
        ("2. M\u00e4rz", "de", ""),
        ("3. Oktoberfest in Berlin", "de", "3. "),
        ("1. Milch, 2. Brot", "de", "1. "),
        ("1. May I come in?", "en", "1. "),
        ("3. Oktober ist Feiertag.", "", "3. "),
    ],
)
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
