"""Words such as "million" after amounts: spelled out, brought into the language of an output, and found to be lost."""

import pytest

from specdec_cli.text.checks import NUMBERS, output_warnings
from specdec_cli.text.locale.matching import lost_long_numbers, realise
from specdec_cli.text.locale.scales import lost_letters, spelled_out, with_references


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("It is worth €2.5bn now.", "en", "It is worth €2.5 billion now."),
        ("They paid $20m for it.", "en", "They paid $20 million for it."),
        ("The pool is 20m long.", "en", "The pool is 20m long."),
        ("Es kostet 1 Mrd. € im Jahr.", "de", "Es kostet 1 Milliarde € im Jahr."),
        ("Sie zahlten 1,5 Mio. Euro.", "de", "Sie zahlten 1,5 Millionen Euro."),
        ("20m kr.", "sv", "20m kr."),
        ("Pay invoice no. 2213 and no. RX-7.", "en", "Pay invoice number 2213 and number RX-7."),
        ("Nos. 4 and 5 are right.", "en", "Numbers 4 and 5 are right."),
        ("The answer is no. 5 people left.", "en", "The answer is no. 5 people left."),
        ("Oh no. He is 5.", "en", "Oh no. He is 5."),
        ("Die Rechnung Nr. 4711 fehlt.", "de", "Die Rechnung Nummer 4711 fehlt."),
        ("Price (incl. VAT), w/o tip, approx. 5", "en", "Price (including VAT), without tip, approximately 5"),
        ("Plz call our dept.", "en", "Please call our department."),
        ("either/or, w/e and Thx/Bye", "en", "either/or, w/e and Thx/Bye"),
        (
            "D.h. inkl. MwSt. u. a. in K\u00f6ln u.a.",
            "de",
            "Das bedeutet einschlie\u00dflich VAT unter anderem in K\u00f6ln unter anderem.",
        ),
        ("INKL. MWST.", "de", "INKL. MWST."),
        ("$80k\u2013$100k, \u20ac2.5k, 80k, $5km", "en", "$80,000\u2013$100,000, \u20ac2,500, 80k, $5km"),
        ("The value is $84k$.", "en", "The value is $84k$."),
        ("70\u201390k \u20ac", "de", "70.000\u201390.000 \u20ac"),
        ("Idk, it takes 2 hrs. or 1 h 15 min.", "en", "I don't know, it takes 2 hours or 1 hour 15 min."),
        ("Wg. Urlaub 2 Std. 5 Min. m.E. 9-18 Uhr", "de", "Wegen Urlaub 2 Stunden 5 Minuten meiner Meinung nach 9 Uhr-18 Uhr"),
        ("Verglv. a. inklusive", "de", "Verglv. a. inklusive"),
    ],
)
def test_abbreviations_are_spelled_out(text: str, language: str, expected: str) -> None:
    assert spelled_out(text, language) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("It costs $1 million.", "Es kostet 1 Millionen $.", "Es kostet 1 Million\u00a0$."),
        ("It has 2 million people.", "Es hat 2 Million Menschen.", "Es hat 2 Millionen Menschen."),
        ("They lost 2 billion dollars.", "Sie verloren 2 Billionen Dollar.", "Sie verloren 2 Milliarden Dollar."),
        ("It is worth €2.5bn.", "Es ist 2,5bn € wert.", "Es ist 2,5 Milliarden\u00a0€ wert."),
        ("It has 2 million people.", "Es hat 2 Mio. Menschen.", "Es hat 2 Mio. Menschen."),
    ],
)
def test_an_output_has_the_word_of_its_language(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("en", "de")) == expected


@pytest.mark.parametrize(
    ("source", "output", "languages", "expected"),
    [
        ("See Fig. 2a and p. 12.", "Siehe Fig. 2a und p. 12.", ("en", "de"), "Siehe Abb. 2a und S. 12."),
        ("Number 7 at 13.4\u00b0 E", "Zahl 7 auf 13,4\u00b0 E", ("en", "de"), "Nummer 7 auf 13,4\u00b0 O"),
        ("8 a.m. PST, O at 3\u00b0", "8:00 Uhr. PST, O bei 3\u00b0", ("en", "de"), "8:00 Uhr PST, O bei 3\u00b0"),
        ("A cook (m/f/d)", "Ein Koch (m/f/d)", ("en", "de"), "Ein Koch (m/w/d)"),
        ("Ein Koch (w/m/d)", "A cook (w/m/d)", ("de", "en"), "A cook (f/m/d)"),
        ("fig. 3 shows it.", "Fig. 3 zeigt es.", ("en", "de"), "Abb. 3 zeigt es."),
        ("Siehe Abb. 3 und S. 12.", "See Abb. 3 and S. 12.", ("de", "en"), "See Fig. 3 and p. 12."),
        ("J. S. 12 Abb. IV", "Abb. IV", ("de", "en"), "Fig. IV"),
        ("the fig.", "die Fig.", ("en", "de"), "die Fig."),
        ("See Fig. 2.", "Voir Fig. 2.", ("en", "fr"), "Voir Fig. 2."),
    ],
)
def test_references_have_the_abbreviation_of_the_target(source: str, output: str, languages: tuple[str, str], expected: str) -> None:
    assert with_references(source, output, languages) == expected


def test_a_number_with_a_letter_stays() -> None:
    assert lost_letters("See Fig. 2a and 3b, not v1.2a.", "Siehe Abb. 2 Uhr und 3b.") == ["2a"]
    assert lost_letters("It is 6 ft 2 in long, 5 ft 1 in total.", "Es ist 6 ft 2 lang.") == ["6 ft 2 in"]


def test_an_amount_without_its_million_is_lost() -> None:
    assert lost_long_numbers("They lost £15 million.", "Sie verloren 15 £.", ("en", "de")) == ["15"]
    assert lost_long_numbers("They lost £15 million.", "Sie verloren 15 Mio. £.", ("en", "de")) == []


@pytest.mark.parametrize(
    ("output", "lost"),
    [
        ("Sie zahlten 2 Milliarden.", ["2"]),
        ("Sie zahlten 2 Milliardenpounden.", ["2"]),
        ("Sie zahlten 2 Milliarden Pfund.", []),
        ("Sie zahlten 2 Milliarden \u00a3.", []),
        ("Sie zahlten GBP 2 Milliarden.", []),
    ],
)
def test_a_currency_in_words_is_lost_without_its_name_sign_or_code(output: str, lost: list[str]) -> None:
    assert lost_long_numbers("They paid 2 billion pounds.", output, ("en", "de")) == lost
    assert output_warnings("They paid 2 billion pounds.", output, ("en", "de")) == ((NUMBERS,) if lost else ())


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("The office opens at 9:00.", "Das Büro öffnet um 21:00 Uhr.", "Das Büro öffnet um 9:00 Uhr."),
        ("The office opens at 9.", "Das Büro öffnet um 21 Uhr.", "Das Büro öffnet um 9 Uhr."),
        ("Come at 9:00 this evening.", "Komm heute um 21:00 Uhr.", "Komm heute um 21:00 Uhr."),
        ("It ends at 9.30.", "Es endet um 9,30 Uhr.", "Es endet um 9:30 Uhr."),
        ("The share closed at 12.50 on Monday.", "Die Aktie schloss am Montag bei 12.50.", "Die Aktie schloss am Montag bei 12,50."),
        ("The share closed at 12.50 on Monday.", "Die Aktie schloss um 12,50 Uhr.", "Die Aktie schloss um 12,50."),
        ("Buses leave at 11.45 and 12.15.", "Busse fahren um 11.45 und 12,15 Uhr.", "Busse fahren um 11.45 und 12:15 Uhr."),
        ("We are here between 9 and 11.30.", "Wir sind zwischen 9 und 11,30 Uhr hier.", "Wir sind zwischen 9 und 11:30 Uhr hier."),
        ("It grew from 9.30 to 11.15.", "Es wuchs von 9.30 auf 11.15.", "Es wuchs von 9,30 auf 11,15."),
        ("at 1.50, 2.50 and 3.50 metres", "bei 1.50, 2.50 und 3.50 Metern", "bei 1,50, 2,50 und 3,50 Metern"),
    ],
)
def test_a_time_keeps_its_hour_unless_the_source_says_that_it_is_later(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("en", "de")) == expected


def test_sizes_and_times_with_zones_are_numbers() -> None:
    source = "10 x 20 x 5.5 cm at 10 a.m. PST, Fig. 2a, 3 x 4"
    assert lost_letters(source, "10 x 5,5 cm um 10 Uhr, Abb. 2") == ["2a", "10 x 20 x 5.5", "10 a.m. PST"]
    assert lost_letters(source, "10x20x5,5 cm um 10 Uhr PST, Abb. 2a") == []
