"""Segmentation of lines into texts and copied gaps."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specdec_cli.text.segment.code import MAX_CODE_LENGTH, is_code
from specdec_cli.text.segment.layout import FormReader, Passthrough, segment_line, split_marks
from specdec_cli.text.segment.sentences import segment
from tests.tables import tables

CASES = tables(__file__)

TRANSLATES, CORRECTS = Passthrough("en", "de"), Passthrough("en", "en")


@pytest.mark.parametrize(("line", "texts"), CASES.lines_are_segmented_into_texts + CASES.each_form_of_a_message_is_a_text)
def test_lines_are_segmented_into_texts(line: str, texts: list[str]) -> None:
    segments = segment_line(line, 99, len, TRANSLATES)
    assert list(segments.texts) == texts
    assert segments.join(segments.texts) == line


def test_columns_are_split_in_translation_alone() -> None:
    assert segment_line("Name     Size of it", 99, len, TRANSLATES).has_marks
    assert segment_line("He     go home", 99, len, CORRECTS).texts == ("He     go home",)


def test_text_in_the_target_language_is_copied() -> None:
    line = "He said it. Das ist ein Haus, und wir sind nicht darin."
    assert segment_line(line, 99, len, TRANSLATES).texts == ("He said it.",)
    assert segment_line(line, 99, len, CORRECTS).texts == ("He said it.",)
    assert len(segment_line(line, 99, len, Passthrough("en", "fr")).texts) == 2
    assert len(segment_line("\u041f\u0440\u0438\u0432\u0435\u0442!", 99, len, Passthrough("ru", "de")).texts) == 1


@pytest.mark.parametrize(
    "line",
    ["Use the door.", "If you like it, do it:", "for my friend", "Return to me.", "He said = no", "import what you like.", "First, he = I"],
)
def test_prose_is_not_detected_as_code(line: str) -> None:
    assert not is_code(line)


@given(st.text(alphabet="ab .,;-*#>|<>/=\"'{}[]1:\t\n\\\u0431", max_size=40))
def test_segments_join_to_the_line(line: str) -> None:
    segments = segment_line(line, 9, len, TRANSLATES)
    assert segments.join(segments.texts) == line
    assert all(text and text == text.strip() for text in segments.texts)


@given(st.text(alphabet="abC .,!?", max_size=40))
def test_prose_without_marks_is_segmented_as_plain_text(line: str) -> None:
    assume(not split_marks(line).head.strip() and "   " not in line)
    found, plain = segment_line(line, 20, len, TRANSLATES), segment(line, 20, len)
    assume(not TRANSLATES.are_told_apart(plain.texts))
    assert found == plain or all(sum(map(str.isalpha, text)) < 2 for text in set(plain.texts) - set(found.texts))


@pytest.mark.parametrize(
    "line", ["line, user = user, 5", "a, *b = c", "x.y, z[0] = 1, 2", "except ValueError:", "except (A, b.C) as error:", "except:"]
)
def test_statements_are_detected_as_code(line: str) -> None:
    assert is_code(line)


def test_very_long_lines_are_not_detected_as_code() -> None:
    assert is_code("return value;")
    assert not is_code(f"return {'value ' * MAX_CODE_LENGTH};")


def test_a_message_may_be_read_in_parts() -> None:
    reader = FormReader()
    parts = ["{n, plural, one {a ", "house} other {", "houses}} here", " {x} and {"]
    assert [[part[start:end] for start, end in reader.syntax(part)] for part in parts] == [["{n, plural, one {"], ["} other {"], ["}}"], []]
