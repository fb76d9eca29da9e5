"""Numbers that a sentence and its translation have in common."""

import pytest

from specdec_cli.text.locale.matching import same_numbers


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("3 of 14", "von 14 sind 3"),
        ("tonight at 9:00 p.m.", "heute um 21:00 Uhr"),
        ("tonight at 9:00 p.m.", "heute um 21 Uhr"),
        ("a table for 2 at 8:45pm", "um 20.45 Uhr ein Tisch für 2"),
        ("at 12:30 PM", "um 12:30 Uhr"),
        ("at 9:05 a.m.", "um 9.05 Uhr"),
        ("at 8:00", "um 8 Uhr"),
        ("3,776 meters", "3776 Meter"),
        ("1,250,000 people", "1.250.000 Menschen"),
        ("at 6:30", "um 18:30 Uhr"),
        ("0 errors in version 2.3.1", "Version 2.3.1: 0 Fehler"),
        ("about 103,000 people", "rund 103 000 Menschen"),
        ("bus 1d6b:0002 of 2.0", "Bus 1d6b:0002 von 2.0"),
        ("no number", "keine Zahl"),
    ],
)
def test_equal_numbers_may_be_written_in_another_way(source: str, target: str) -> None:
    assert same_numbers(source, target, ("en", "de"))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("3 of 14", "3 von 15"),
        ("3 of 3", "alle 3"),
        ("at 8:45pm", "um 20 Uhr"),
        ("at 8:45pm", "um 8:45 Uhr"),
        ("I am 9", "21"),
        ("9 programs", "neun Programme"),
        ("2 and 2", "2 und 7"),
        ("at 3, 5 and 5", "um 5, 3 und 3"),
        ("5 programs made 3 errors", "5 Programme, 15 Fehler"),
    ],
)
def test_other_numbers_differ(source: str, target: str) -> None:
    assert not same_numbers(source, target, ("en", "de"))
