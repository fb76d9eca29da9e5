"""Numbers of a sentence that its translation lacks."""

import pytest

from specdec_cli.text.locale.matching import lost_numbers


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
        ("20 dogs and 35 cats", "zwanzig Hunde und f\u00fcnfunddrei\u00dfig Katzen", []),
        ("21 Hunde, 80 Katzen", "twenty-one dogs, eighty cats", []),
        ("22 dogs", "zwanzig Hunde", ["22"]),
        ("on 5 May 2020", "am 5.5.2020", []),
        ("version 2.3.1", "Version 2.3.1", []),
        ("1.5 and 15", "15 und 1,5", []),
        ("no number", "7", []),
        ("10 000 people", "10.000 Menschen", []),
        ("5 pm and 5 dogs", "5 Hunde um 17 Uhr", []),
        ("from 7 to 8 pm", "von 19 bis 20 Uhr", []),
        ("from 7:30 until 12:45 p.m.", "von 19:30 bis 12:45 Uhr", ["7:30"]),
        ("from 7:30 until 12:45 p.m.", "von 7:30 bis 12:45 Uhr", []),
        ("from 7 to 8 pm", "von 18 bis 20 Uhr", ["7"]),
        ("between 7 and 8 dogs", "zwischen 19 und 8 Hunden", ["7"]),
        ("at 12:30 a.m.", "um 0:30 Uhr", []),
        ("12 a.m.", "24 Uhr", []),
        ("at 12 a.m.", "um Mitternacht", []),
        ("at 11 a.m.", "um 23 Uhr", ["11"]),
        ("on 12.05.2020", "am 2020-05-12", []),
        ("from 7 to 12", "von 7 bis zw\u00f6lf", []),
        ("room 5 100 times", "100 mal Zimmer 5", ["5 100"]),
    ],
)
def test_a_number_of_the_output_stands_for_one_of_the_source(source: str, output: str, lost: list[str]) -> None:
    assert [each.text for each in lost_numbers(source, output)] == lost
