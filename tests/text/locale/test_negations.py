"""Negations that a translation lacks."""

import pytest

from specdec_cli.text.checks import NEGATION, output_warnings


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("I strongly disagree with his opinion.", "Ich bin stark mit seiner Meinung."),
        ("He doesn\u2019t sleep.", "Er schläft."),
        ("Nobody came to the party.", "Alle kamen zum Fest."),
        ("You must not open the door.", "Du musst die Tür öffnen."),
        ("There is no water in the bottle.", "Es ist Wasser in der Flasche."),
        ("Without a ticket, you cannot travel.", "Mit einem Ticket kann man fahren."),
    ],
)
def test_a_lost_negation_is_found(source: str, output: str) -> None:
    assert output_warnings(source, output, ("en", "de")) == (NEGATION,)
    assert output_warnings(source, output, ("en", "fr")) == ()


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("He never eats meat.", "Er isst nie Fleisch."),
        ("I can't agree.", "Ich kann dem unmöglich zustimmen."),
        ("It is not only cheap but also good.", "Es ist billig und auch gut."),
        ("Nobody came.", "Niemand kam."),
        ("It's cold, isn't it?", "Es ist kalt, oder?"),
        ("Why don't you come with me?", "Komm doch mit mir!"),
        ("Smoking is not allowed.", "Rauchen ist verboten."),
        ("He lives at No. 5.", "Er wohnt in Nummer 5."),
        ("I know the knot.", "Ich kenne den Knoten."),
    ],
)
def test_other_translations_have_no_warning(source: str, output: str) -> None:
    assert output_warnings(source, output, ("en", "de")) == ()
