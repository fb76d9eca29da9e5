"""Segmentation of lines into texts and copied gaps."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specdec_cli.text.segment.code import MAX_CODE_LENGTH, is_code
from specdec_cli.text.segment.layout import Passthrough, segment_line, split_marks
from specdec_cli.text.segment.sentences import segment

TRANSLATES, CORRECTS = Passthrough("en", "de"), Passthrough("en", "en")


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("Plain prose. And more.", ["Plain prose.", "And more."]),
        ("- He is here. 1984. So am I.", ["He is here.", "So am I."]),
        ("| Tom | 25 | A teacher |", ["Tom", "A teacher"]),
        ("Tom\t25\t\tA teacher", ["Tom", "A teacher"]),
        ('1,"He is tired, I think.",x', ["He is tired, I think."]),
        ("7;one;two", ["one", "two"]),
        ('12,"It is old, and big."', ["It is old, and big."]),
        ('"a.b";"Old, big"', ["a.b", "Old, big"]),
        ("| A | B (c) | Ab |", ["B (c)", "Ab"]),
        (".. note::", []),
        (".. warning:: Keep out.", ["Keep out."]),
        (".. code-block:: python", []),
        (".. |logo| image:: the logo.png", []),
        (".. _the target: x", []),
        ("Tom, Dick,and Harry", ["Tom, Dick,and Harry"]),
        ("On 10,000,000 people", ["On 10,000,000 people"]),
        ("1,299,300 people live here.", ["1,299,300 people live here."]),
        ("It has 2,350 streets and costs $1,299.50.", ["It has 2,350 streets and costs $1,299.50."]),
        ("The bread costs 3,50. The milk costs 1,20.", ["The bread costs 3,50.", "The milk costs 1,20."]),
        ("Cup,5,299.50", ["Cup"]),
        ('He said,"I am here"', ['He said,"I am here"']),
        ("this | that", ["this | that"]),
        ("Status: Open | Size: Big", ["Status: Open", "Size: Big"]),
        ("  spfp     Use these   things.", ["spfp", "Use these", "things."]),
        ("Use `a | b | c` or `d     e`.", ["Use `a | b | c` or `d     e`."]),
        ("not  two spaces", ["not  two spaces"]),
        ("> - <b>Yes, we can.</b>", ["Yes, we can."]),
        ("https://example.org {name}", []),
        ("#include <stdio.h>", []),
        ("- x = foo(bar)", []),
        ("\u041f\u0440\u0438\u0432\u0435\u0442!", []),
    ],
)
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
