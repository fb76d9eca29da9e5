"""Which names of people a text shows, and which of them a translation lacks."""

import pytest

from specdec_cli.text.people import lost_names


@pytest.mark.parametrize(
    ("source", "output", "language", "expected"),
    [
        ("J\u00fcrgen und Anna Koch", "young and Anna Cook", "de", ["J\u00fcrgen", "Koch"]),
        ("M\u00fcller ist da, die M\u00fcller auch.", "Sudden is there, the miller too.", "de", ["M\u00fcller"]),
        ("Der Koch ist krank.", "The cook is ill.", "de", []),
        ("i. A. Lehrling, Fa. Holz", "p.p. apprentice, Wood", "de", ["Lehrling", "Holz"]),
        ("Bahnhofstra\u00dfe 5a, eine Stra\u00dfe", "Station road 5a, a street", "de", ["Bahnhofstra\u00dfe 5a"]),
        ("Peters Haus, Mark und Rose", "Peter's house", "de", []),
        ("Am Marienplatz, am Parkplatz und am Potsdamer Platz", "at the place", "de", ["Marienplatz", "Potsdamer Platz"]),
        ("Unser Lehrer Platz ist am freien Platz", "at the place", "de", []),
        ("Die Zeit and Deutsche Bahn, and so on", "das war und die Bahn", "en", ["Die Zeit", "Deutsche Bahn"]),
        ("We die. The Lufthansa, Das Ei", "Schwarzhansa", "en", ["Lufthansa"]),
        ("I met Dieter and Will.", "Ich traf D\u00e4mme.", "en", ["Dieter"]),
    ],
)
def test_names_that_an_output_lacks(source: str, output: str, language: str, expected: list[str]) -> None:
    assert lost_names(source, output, language) == expected
