"""The ends and beginnings of outputs, as in the source."""

import pytest

from specdec_cli.text.shape import with_closing_quote, with_single_stops, with_small_function_word


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("p. 12, etc. for", "S. 12, usw.. für", "S. 12, usw. für"),
        ("The car... ...is here", "Das Auto..... ist da", "Das Auto... ist da"),
        ("Wait..", "Warte..", "Warte.."),
        ("Wait....", "Warte....", "Warte...."),
        ("Wait...", "Warte...", "Warte..."),
    ],
)
def test_stops_are_single_or_an_ellipsis(source: str, output: str, expected: str) -> None:
    assert with_single_stops(output, source) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ('She asked, "Why?"', "Sie fragte: \u201eWarum?", "Sie fragte: \u201eWarum?\u201c"),
        ('She asked, "Why?"', "Sie fragte: \u201eWarum?\u201c", "Sie fragte: \u201eWarum?\u201c"),
        ('She asked, "Why', "Sie fragte: \u201eWarum", "Sie fragte: \u201eWarum"),
        ("Why?", "Warum?", "Warum?"),
    ],
)
def test_a_missing_closing_quotation_mark_is_added(source: str, output: str, expected: str) -> None:
    assert with_closing_quote(output, source) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [("on", "Auf", "auf"), ("house", "Haus", "Haus"), ("On", "Auf", "Auf"), ("of the", "Von der", "von der"), ("x", "", "")],
)
def test_function_words_of_parts_have_the_case_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_small_function_word(output, source) == expected
