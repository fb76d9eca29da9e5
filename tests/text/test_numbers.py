"""Numbers that a sentence and its translation have in common."""

import pytest

from specdec_cli.text.numbers import lost_numbers, same_numbers
from specdec_cli.text.parallel import Pair


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
        ("no number", "keine Zahl"),
    ],
)
def test_equal_numbers_may_be_written_in_another_way(source: str, target: str) -> None:
    assert same_numbers(Pair(source, target))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("3 of 14", "3 von 15"),
        ("3 of 3", "alle 3"),
        ("at 8:45pm", "um 20 Uhr"),
        ("I am 9", "21"),
        ("9 programs", "neun Programme"),
        ("2 and 2", "2 und 7"),
        ("at 3, 5 and 5", "um 5, 3 und 3"),
        ("5 programs made 3 errors", "5 Programme, 15 Fehler"),
    ],
)
def test_other_numbers_differ(source: str, target: str) -> None:
    assert not same_numbers(Pair(source, target))


@pytest.mark.parametrize(
    ("source", "output", "lost"),
    [
        ("The city has 2,000,000 people.", "Die Stadt hat 2.000 Menschen.", ["2,000,000"]),
        ("The city has 2,000,000 people.", "Die Stadt hat 2.000.000 Menschen.", []),
        ("2,000,000 people", "2 000 000 Menschen", []),
        ("20 by 20 by 20 meters", "20 mal 20 Meter", ["20"]),
        ("It costs 5 euros.", "Es kostet 5.000 Euro.", ["5"]),
        ("It costs 1,250 euros.", "Es kostet 1250 Euro.", []),
        ("at 9:30 p.m.", "um 21:30 Uhr", []),
        ("at 9:30 p.m.", "um 9 Uhr 30", []),
        ("at 9:30 and at 9:30", "um 9:30 Uhr", ["9:30"]),
        ("2 dogs and 2 cats", "zwei Hunde und zwei Katzen", []),
        ("2 dogs and 2 cats", "zwei Hunde und Katzen", ["2"]),
        ("on 5 May 2020", "am 5.5.2020", []),
        ("version 2.3.1", "Version 2.3.1", []),
        ("1.5 and 15", "15 und 1,5", []),
        ("no number", "7", []),
    ],
)
def test_a_number_of_the_output_stands_for_one_of_the_source(source: str, output: str, lost: list[str]) -> None:
    assert lost_numbers(source, output) == lost
