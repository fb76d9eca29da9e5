"""The ends and beginnings of outputs, as in the source."""

import pytest

from specdec_cli.text.shape import (
    with_closing_quote,
    with_ordinal_endings,
    with_own_end,
    with_own_joints,
    with_repeated_marks,
    with_single_pause,
    with_single_stops,
    with_small_function_word,
    without_added_stop,
    without_stress,
)


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("p. 12, etc. for", "S. 12, usw.. für", "S. 12, usw. für"),
        ("The car... ...is here", "Das Auto..... ist da", "Das Auto... ist da"),
        ("Wait..", "Warte..", "Warte.."),
        ("Wait....", "Warte....", "Warte...."),
        ("Wait...", "Warte...", "Warte..."),
        ("Well... I know\u2026", "Nun... ich..", "Nun... ich..."),
        ("Wait\u2026", "Warte.", "Warte\u2026"),
        ("Wait... It is 5.", "Warte... Es ist 5.", "Warte... Es ist 5."),
    ],
)
def test_stops_are_single_or_an_ellipsis(source: str, output: str, expected: str) -> None:
    assert with_single_stops(output, source) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("Thank you!!!", "Danke!", "Danke!!!"),
        ("Really?! No!! Why?", "Wirklich? Nein! Warum?", "Wirklich?! Nein!! Warum?"),
        ("You did what?!", "Was? Was hast du getan?", "Was? Was hast du getan?"),
        ("Why?", "Warum?!", "Warum?!"),
        ("Go!! (/a?b=1)", "Los! (/a?b=1)", "Los!! (/a?b=1)"),
    ],
)
def test_runs_of_marks_are_those_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_repeated_marks(output, source) == expected


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


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("Be quiet.", "Sei still!", "Sei still."),
        ("Are you there?", "Bist du da.", "Bist du da?"),
        ('He asked, "Why?"', "Er fragte: \u201eWarum.\u201c", "Er fragte: \u201eWarum?\u201c"),
        ("Come!", "Komm", "Komm!"),
        ("Come.", "Komm", "Komm"),
        ("Well...", "Nun.", "Nun."),
        ("Really?!", "Wirklich?", "Wirklich?"),
        ("Fine :!", "Gut.", "Gut."),
    ],
)
def test_the_final_mark_is_that_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_own_end(output, source) == expected


@pytest.mark.parametrize(
    ("output", "source", "expected"),
    [
        ("At 5:30 p.m.", "Um 17:30 Uhr", "At 5:30 p.m."),
        ("Apples etc.", "\u00c4pfel usw", "Apples etc."),
        ("\u00c4pfel z. B.", "Apples e.g", "\u00c4pfel z. B."),
        ("The house.", "Das Haus", "The house"),
    ],
)
def test_the_stop_of_an_abbreviation_is_none_that_was_added(output: str, source: str, expected: str) -> None:
    assert without_added_stop(output, source) == expected


@pytest.mark.parametrize(
    ("output", "source", "expected"),
    [("Hallo,;", "Hello;", "Hallo;"), ("Hallo;:", "Hello:", "Hallo:"), ("Ja,,", "Yes,,", "Ja,,"), ("Ja", "Yes;", "Ja")],
)
def test_a_pause_at_the_end_is_not_doubled(output: str, source: str, expected: str) -> None:
    assert with_single_pause(output, source) == expected


def test_the_english_pronoun_keeps_its_capital() -> None:
    assert with_small_function_word("I come soon", "ich komme gleich") == "I come soon"
    assert with_small_function_word("We come soon", "wir kommen gleich") == "we come soon"


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("This is VERY good, NOT bad.", "en", "This is very good, not bad."),
        ("NEVER do that!", "en", "Never do that!"),
        ('"ALL of them"', "en", '"All of them"'),
        ("The US and the WHO said it in AND mode.", "en", "The US and the WHO said it in AND mode."),
        ("ONE-way and `NOT` and MUST_DO", "en", "ONE-way and `NOT` and MUST_DO"),
        ("DO NOT ENTER", "en", "DO NOT ENTER"),
        ("Das ist NICHT wahr, KEINE Frage.", "de", "Das ist nicht wahr, keine Frage."),
        ("Das ist VERY gut.", "de", "Das ist VERY gut."),
        ("This is VERY good.", "fr", "This is VERY good."),
    ],
)
def test_stressed_words_have_small_letters(text: str, language: str, expected: str) -> None:
    assert without_stress(text, language) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("on the 3nd floor, the 2st of 21th", "on the 3rd floor, the 2nd of 21st"),
        ("the 11st, 12nd, 13rd and 112nd", "the 11th, 12th, 13th and 112th"),
        ("4th, 10th, 100th, 1st", "4th, 10th, 100th, 1st"),
        ("A3nd, 1.2nd", "A3nd, 1.2nd"),
    ],
)
def test_ordinals_have_the_endings_of_their_numbers(output: str, expected: str) -> None:
    assert with_ordinal_endings(output) == expected


def test_plus_signs_between_words_have_the_spaces_of_the_source() -> None:
    assert with_own_joints("Strg +Umschalt+ Esc", "Ctrl + Shift + Esc") == "Strg + Umschalt + Esc"
    assert with_own_joints("Strg + C, 1 + 2", "Ctrl+C, 1 + 2") == "Strg+C, 1 + 2"
    assert with_own_joints("a +b", "a + b, c+d") == "a +b"


def test_the_polite_pronoun_keeps_its_capital_inside_of_a_sentence() -> None:
    assert with_small_function_word("Sie kommen", "you come") == "Sie kommen"
    assert with_small_function_word("Sie kommen", "they come") == "sie kommen"
    assert with_small_function_word("Ihr Haus", "your house") == "Ihr Haus"
