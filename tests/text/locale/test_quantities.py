"""Numbers, labels, prices and times: where they are, how languages write them, and what an output makes of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.locale.languages import convention
from specdec_cli.text.locale.matching import lost_numbers, realise, repaired, tidied_numbers
from specdec_cli.text.locale.quantities import find_quantities, without_dash_cents, written, written_in
from specdec_cli.text.locale.ranges import written_alone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The hall holds 7,045 of 1,048,576 people.", [("7,045", "number"), ("1,048,576", "number")]),
        ("0.75 litres at -3.5 °C, 2.88MB, 4.5-inch", [("0.75", "number"), ("3.5", "number"), ("2.88", "number"), ("4.5", "number")]),
        ("Version 1.5 fixes 2.5 million bugs.", [("1.5", "label"), ("2.5", "number")]),
        ("Windows 8.1 and iOS 17.4", [("8.1", "label"), ("17.4", "label")]),
        ("version 2.1, not 2.2", [("2.1", "label"), ("2.2", "label")]),
        ("sections 4.2, 4.3 and 4.4", [("4.2", "label"), ("4.3", "label"), ("4.4", "label")]),
        ("release 2.4 is 1.5 times faster than 2.3", [("2.4", "label"), ("1.5", "number"), ("2.3", "label")]),
        ("It is faster than 2.3", [("2.3", "number")]),
        ("1.2 Installation", [("1.2", "label")]),
        ("1.2 Million people and 3.5 Euros", [("1.2", "number"), ("3.5", "number")]),
        ("Route 2.1 is closed, after 2.1 km", [("2.1", "label"), ("2.1", "number")]),
        ("Add 1.5 to 2.5 kg. About 3.5 people", [("1.5", "number"), ("2.5", "number"), ("3.5", "number")]),
        ("release 3.1r8, sendmail 8.12.3-6.6", [("3.1", "label"), ("6.6", "label")]),
        ("gcc 4.9, glibc 2.19 and libpng 1.6", [("4.9", "label"), ("2.19", "label"), ("1.6", "label")]),
        ("the 2.6 kernel, 4.4BSD, 802.3ad, 16.04 LTS", [("2.6", "label"), ("4.4", "label"), ("802.3", "label"), ("16.04", "label")]),
        ("needs 2.1 or later, HTTP/1.1 and 2.6.x", [("2.1", "label"), ("1.1", "label"), ("2.6", "label")]),
        ("a 7.62x39mm round and 5.5 km", [("7.62", "number"), ("5.5", "number")]),
        ("$1,299.50, 5 € and £ 3", [("1,299.50", "price"), ("5", "price"), ("3", "price")]),
        ("on 12.05.2020, 12/31/2023, 10.0.0.1, 2023-12-24, 3:2", []),
        ("{0:.2f} of $3$ and <b1>", []),
    ],
)
def test_numbers_labels_and_prices_are_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(each.text, each.kind) for each in find_quantities(text, "en") if len(each.text) > 1 or each.sign] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("opens at 9 AM and closes at 4:30 pm", [(540, True), (990, True)]),
        ("at 12 a.m. or 12:15 PM or 4.30 p.m. today", [(0, True), (735, True), (990, True)]),
        ("from 8 to 11 PM, between 2 and 4 pm", [(1200, True), (1380, True), (840, True), (960, True)]),
        ("from 10 to 2 pm", [(600, True), (840, True)]),
        ("at 9:30 and at 21:30", [(570, False), (1290, True)]),
        ("13 PM, 5:75 pm and 1:02:03", []),
    ],
)
def test_times_of_the_12_hour_clock_are_found(text: str, expected: list[tuple[int, bool]]) -> None:
    assert [(each.minutes, each.exact) for each in find_quantities(text, "en") if each.kind == "time"] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("um 8:30 Uhr am Tag", [510]),
        ("um 5:30 PM, um 5 Uhr nachmittags", [1050, 1020]),
        ("am 3.5. um 17.30 Uhr", [1050]),
        ("um 24 Uhr", [0]),
        ("von 9 am-5 pm", [540, 1020]),
        ("um 9 am Bahnhof", []),
    ],
)
def test_times_of_the_24_hour_clock_are_found(text: str, expected: list[int]) -> None:
    assert [each.minutes for each in find_quantities(text, "de") if each.kind == "time"] == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("2,500,000.50", "de", "2.500.000,50"),
        ("250,000", "fr", "250\u202f000"),
        ("250,000", "zh", "250,000"),
        ("250,000", "xx", "250,000"),
        ("version 1.5", "de", "1.5"),
        ("1000.5", "de", "1000,5"),
        ("5:30 PM", "de", "17:30 Uhr"),
        ("5:30 PM", "fr", "17:30"),
        ("12 AM", "en", "12:00 AM"),
    ],
)
def test_a_quantity_is_written_as_in_the_language(text: str, language: str, expected: str) -> None:
    (quantity,) = find_quantities(text, "en")
    assert written(quantity, language) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("It has 2,350 streets.", "Sie hat 2,350 Straßen.", "Sie hat 2.350 Straßen."),
        ("It has 2,350 streets.", "Sie hat 2350 Straßen.", "Sie hat 2350 Straßen."),
        ("It made 1,048,576 chips.", "Es machte 1.048,576 Chips.", "Es machte 1.048.576 Chips."),
        ("1.5 of 15", "1.5 von 15", "1,5 von 15"),
        ("-5.5 °C or 1.5%", "-5.5 °C oder 1.5%", "-5,5 °C oder 1,5\u00a0%"),
        ("Version 1.5 has 2.5 million.", "Version 1,5 hat 2.5 Millionen.", "Version 1.5 hat 2,5 Millionen."),
        ("We meet at 5:30 PM.", "Wir treffen uns um 5:30 Uhr.", "Wir treffen uns um 17:30 Uhr."),
        ("at 5:30 PM", "um 17.30 Uhr", "um 17.30 Uhr"),
        ("at 5:30 PM", "um 5:30 PM", "um 17:30 Uhr"),
        ("at 12:30 AM", "um 12:30 Uhr", "um 0:30 Uhr"),
        ("at 4:45 a.m.", "um 16:45 Uhr", "um 4:45 Uhr"),
        ("from 8 to 11 PM", "von 8 bis 11 Uhr", "von 20 bis 23 Uhr"),
        ("at 5 PM with 5 dogs", "um 5 Uhr mit 5 Hunden", "um 17 Uhr mit 5 Hunden"),
        ("at 5:30", "um 5:30 Uhr", "um 5:30 Uhr"),
        ("by 8:30 am the day", "bis 8:30 Uhr am Tag", "bis 8:30 Uhr am Tag"),
        ("It costs $1,299.50.", "Es kostet $1,299,50.", "Es kostet 1.299,50\u00a0$."),
        ("It costs $4,860.60.", "Es kostet 4,860,60.", "Es kostet 4.860,60\u00a0$."),
        ("$50 to $100", "$50 bis 100", "50\u00a0$ bis 100\u00a0$"),
        ("Between $50 and $100.", "Zwischen $50 und $100 $.", "Zwischen 50\u00a0$ und 100\u00a0$."),
        ("I paid \u00a35 for it.", "Ich habe 5\u00a0\u00a0\u00a3 daf\u00fcr bezahlt.", "Ich habe 5\u00a0\u00a3 daf\u00fcr bezahlt."),
        ("$5 and $6", "5 Dollar und $6", "5 Dollar und 6\u00a0$"),
        ("$5 and $6", "$ 5", "$ 5"),
        ("It costs $19.50 a year.", "Es kostet $19.50 Uhr im Jahr.", "Es kostet 19,50\u00a0$ im Jahr."),
        ("It costs $19 a year.", "Es kostet $19 Uhr im Jahr.", "Es kostet 19\u00a0$ im Jahr."),
        ("a US$5 fee", "eine US$5-Gebühr", "eine US$5-Gebühr"),
        ("a $5 bill", "ein $5-Schein", "ein $5-Schein"),
        ("It lost $3.5 million.", "Es verlor $3.5 Millionen.", "Es verlor 3,5 Millionen\u00a0$."),
        ("It lost $3.5 million.", "Es verlor 3.5 Millionen.", "Es verlor 3,5 Millionen\u00a0$."),
        ("He lost -$5.", "Er verlor -$5.", "Er verlor -5\u00a0$."),
        ("He has 5 $.", "Er hat 5 $.", "Er hat 5 $."),
        ("on 12.05.2020", "am 12,05,2020", "am 12,05,2020"),
        ("no number", "7,5", "7,5"),
    ],
)
def test_an_output_gets_the_values_of_its_source(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("en", "de")) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("Er kommt um 18 Uhr.", "He comes at 6 P.M.", "He comes at 6 PM."),
        ("Er kommt um 18 Uhr.", "He comes at 6pm.", "He comes at 6pm."),
        ("Um 9.15 Uhr kam Tom.", "At 9:15 A.M. Tom came.", "At 9:15 AM Tom came."),
        ("Er kam um 9 Uhr. Er ging.", "He came at 9 A.M. He left.", "He came at 9 AM. He left."),
        ("um 14 Uhr, 15 Uhr und 16 Uhr.", "at 2 PM, 3pm and 4pm.", "at 2pm, 3pm and 4pm."),
        ("um 14 Uhr und 15 Uhr.", "at 2 PM and 3 p.m.", "at 2 p.m. and 3 p.m."),
        ("von 9 bis 18 Uhr.", "from 9 AM to 18.", "from 9 AM to 6 PM."),
        ("um 9 Uhr und um 18.30 Uhr.", "at 9:00 AM and 6:30 PM.", "at 9:00 AM and 6:30 PM."),
        ("Er kam um 14 Uhr und um 15.30 Uhr.", "He came at 2 p.m. and at 3:30.", "He came at 2 p.m. and at 3:30 p.m."),
        ("Es zeigt um 12:25 Uhr. Das ist es.", "It shows at 12:25pm. that is it.", "It shows at 12:25pm. that is it."),
        ("von 17 bis 18 Uhr", "from 5 to 6 p.m.", "from 5 to 6 p.m."),
        ("Es kostet 5 €.", "It costs 5 €.", "It costs €5."),
        ("ein 5-€-Schein", "a 5-€ note", "a 5-€ note"),
        ("Es kostet 3 Millionen €.", "It costs 3 million €.", "It costs €3 million."),
    ],
)
def test_english_has_one_form_of_times_and_prices(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("de", "en")) == expected


@pytest.mark.parametrize("languages", [("en", "xx"), ("xx", "de"), ("", ""), ("en", "en")])
def test_nothing_is_written_anew_without_two_conventions(languages: tuple[str, str]) -> None:
    assert realise("It has 2,350 streets.", "It has 2.350.", languages) == "It has 2.350."


def test_other_pairs_of_languages_have_their_conventions() -> None:
    assert (
        realise("Es kostet 1.299,50 € um 17.30 Uhr.", "It costs \u20ac1.299,50 at 5:30.", ("de", "en"))
        == "It costs \u20ac1,299.50 at 5:30 PM."
    )
    assert realise("It has 2,350 streets.", "Elle a 2,350 rues.", ("en", "fr")) == "Elle a 2\u202f350 rues."


@pytest.mark.parametrize(
    ("source", "output", "lost"),
    [
        ("2,350 streets at 5:30 PM for $3", "2,350 um 5:30 Uhr", ["2,350", "5:30 PM", "3"]),
        ("2,350 streets at 5:30 PM for $3", "2.350 um 17:30 Uhr für 3 $", []),
        ("7 dogs at 5:30", "Hunde", ["7", "5:30"]),
        ("7 dogs and 8 cats at 5:30", "sieben Hunde und 8 Katzen um 5.30", []),
        ("10 000 people in room 5", "10.000 Leute in Zimmer 5", []),
        ("room 5 100 times", "100 mal Zimmer 5", []),
        ("It costs $1.50.", "Es kostet 1,5 $.", []),
        ("The MP3 of 9 o'clock", "Die MP3 von 21 Uhr", []),
        ("at 12 PM and 12 AM", "mittags und um Mitternacht", []),
    ],
)
def test_values_that_an_output_lacks_are_lost(source: str, output: str, lost: list[str]) -> None:
    assert [each.text for each in lost_numbers(source, output, ("en", "de"))] == lost


def test_quantities_in_spans_are_written_and_spans_moved() -> None:
    text, spans = written_in("It is \u20ac1,000.50 and 1,000.", [(6, 15)], ("en", "fr"))
    assert text == "It is 1\u202f000,50\u00a0\u20ac and 1,000." and spans == [(6, 16)]
    assert written_in("a 5 PM b", [(2, 6)], ("en", "de")) == ("a 17:00 Uhr b", [(2, 11)])


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("9 AM - 5 PM", "9 Uhr 17 Uhr", "9 - 17 Uhr"),
        ("9 AM\u20135 PM, 6 PM", "9 Uhr, 17 Uhr, 18 Uhr", "9\u201317 Uhr, 18 Uhr"),
        ("9 Uhr - 17 Uhr", "9 AM 5 PM", "9 AM - 5 PM"),
        ("9 AM and 5 PM", "9 Uhr 17 Uhr", "9 Uhr 17 Uhr"),
    ],
)
def test_a_range_of_times_keeps_its_dash(source: str, output: str, expected: str) -> None:
    assert tidied_numbers(source, output) == expected


def test_a_time_has_one_mark() -> None:
    assert tidied_numbers("at 5:30 pm, 5 pm", "um 17:30 Uhr Uhr, 5 Uhr") == "um 17:30 Uhr, 5 Uhr"


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("get 1 free", "1frei", "1 frei"),
        ("Buy 2 books", "Kauf 2b\u00fccher, 3b\u00fccher", "Kauf 2 b\u00fccher, 3b\u00fccher"),
        ("3 times, 8 years old, 5 kg", "3mal, 8j\u00e4hrig, 5kg", "3mal, 8j\u00e4hrig, 5kg"),
        ("a 3rd way in 3 cases", "der 3te Weg", "der 3te Weg"),
        ("version 2beta", "Version 2beta", "Version 2beta"),
    ],
)
def test_words_do_not_stick_to_numbers(source: str, output: str, expected: str) -> None:
    assert tidied_numbers(source, output) == expected


@given(st.integers(1, 10**12), st.integers(0, 99), st.sampled_from(["de", "en", "fr", "pl", "sv", "es", "zh"]))
def test_written_numbers_are_read_again(whole: int, cents: int, language: str) -> None:
    (number,) = find_quantities(f"{whole:,}.{cents:02}", "en")
    (again,) = find_quantities(written(number, language), language)
    assert again.value == number.value
    assert realise(number.text, number.text, ("en", language)) in (number.text, written(number, language))


def test_conventions_are_those_of_languages_with_any_code() -> None:
    assert convention("deu_Latn") == convention("de-AT") == convention("de") is not None
    assert convention("hi") is convention("fa") is convention("") is None


def test_the_files_of_conventions_are_those_of_the_cldr() -> None:
    conventions = pytest.importorskip("tools.conventions", reason="babel is not installed")
    assert conventions.FILE.read_text(encoding="utf-8") == conventions.written(conventions.conventions())
    assert conventions.DATES.read_text(encoding="utf-8") == conventions.written(conventions.dates())


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("The city has 2,350 streets.", "Die Stadt hat 2,350 Straßen.", "Die Stadt hat 2.350 Straßen."),
        ("a chip of 1,048,576 bits", "ein Chip mit 1,048,576 Bits", "ein Chip mit 1.048.576 Bits"),
        ("wait 5.5 seconds", "5.5 Sekunden warten", "5,5 Sekunden warten"),
        ("at 5:30 PM", "um 5:30 PM", "um 17:30 Uhr"),
        ("at 5:30 p.m.", "um 5:30 Uhr", "um 17:30 Uhr"),
        ("It is at 5:30 p.m.", "Es ist um 5:30 p.m.", "Es ist um 17:30 Uhr."),
        ("It is at 5:30 pm.", "Es ist um 5:30 pm.", "Es ist um 17:30 Uhr."),
        ("At 5:30 p.m. Peter went", "Um 5:30 p.m. ging Peter", "Um 17:30 Uhr ging Peter"),
        ("At 5:30 pm. We go.", "Um 5:30 pm. Wir gehen.", "Um 17:30 Uhr. Wir gehen."),
        ("Rent is $2,450.75 a month", "Die Miete ist $2,450.75 im Monat", "Die Miete ist $2,450.75 im Monat"),
        ("£30m a year", "30 Mio. GBP im Jahr", "30 Mio. GBP im Jahr"),
        ("about 1,000", "etwa tausend", "etwa tausend"),
        ("version 2.5 and 2.6", "Version 2.5 und 2.6", "Version 2.5 und 2.6"),
        ("It is fixed in 2.5.", "Behoben in 2.5.", "Behoben in 2.5."),
        ("less than 10.000", "unter 10.000", "unter 10.000"),
        ("2,350 and 2,350", "2.350 und 2,350", "2.350 und 2.350"),
    ],
)
def test_numbers_of_a_target_are_repaired(source: str, target: str, expected: str) -> None:
    assert repaired(source, target, ("en", "de")) == expected
    assert repaired(source, expected, ("en", "de")) == expected
    assert repaired(source, target, ("en", "xx")) == repaired(source, target, ("xx", "de")) == target


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("5,5 Sekunden warten", "wait 5,5 seconds", "wait 5.5 seconds"),
        ("10,25 km von hier", "10,25 km from here", "10.25 km from here"),
        ("um 2.30 Uhr", "at 2:30", "at 2:30"),
        ("um 14:30 Uhr", "at 2:30", "at 2:30"),
        ("der Punkt (0,0)", "the point (0,0)", "the point (0,0)"),
        ("f(x,1,1)", "f(x,1,1)", "f(x,1,1)"),
        ("etwa 0.123", "about 0.123", "about 0.123"),
    ],
)
def test_numbers_of_an_english_target_are_repaired(source: str, target: str, expected: str) -> None:
    assert repaired(source, target, ("de", "en")) == expected


def test_a_time_before_one_needs_no_half_of_the_day_in_english() -> None:
    assert realise("Er kam um 2.30 Uhr.", "He came at 2:30.", ("de", "en")) == "He came at 2:30."
    assert realise("Er kam um 12.30 Uhr.", "He came at 12:30.", ("de", "en")) == "He came at 12:30."
    assert realise("Er kam um 14.30 Uhr.", "He came at 2:30.", ("de", "en")) == "He came at 2:30 PM."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$3.50", "3,50\u00a0$"),
        ("1,299.00", "1.299,00"),
        ("5:30 PM", "17:30 Uhr"),
        ("3.5 kg", "3,5 kg"),
        ("12%", "12\u00a0%"),
        ("1,299 EUR", "1.299 EUR"),
        ("USD 1,299.50", "USD 1.299,50"),
        ("-4.5", "-4,5"),
        ("20 MB", "20 MB"),
        ("8.5 m\u00b2", "8,5 m\u00b2"),
        ("9:00 AM - 5:30 PM", "9:00 - 17:30 Uhr"),
        ("$5.50\u2013$7", "5,50\u00a0$\u20137\u00a0$"),
        ("62%-65%", "62\u00a0%-65\u00a0%"),
        ("1.5 x 2.25 m", "1,5 x 2,25 m"),
        ("$5-10", "5-10\u00a0$"),
        ("9-5 PM", "9:00-17:00 Uhr"),
        ("3/4/2025", None),
        ("+49 30 1234567", None),
        ("v1.5", None),
        ("1.5.2", None),
        ("3.5 apples", None),
        ("Version 1.5", None),
    ],
)
def test_a_quantity_alone_is_written_as_in_the_target_language(text: str, expected: str | None) -> None:
    assert written_alone(text, ("en", "de")) == expected
    assert written_alone(text, ("en", "en")) is None


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("von 9\u201317 Uhr", "from 9-17 AM", "from 9-5 PM"),
        ("Geöffnet 9-17 Uhr.", "Open 9-17 p.m.", "Open 9-5 PM."),
        ("von 9 bis 17 Uhr", "from 9 to 5 p.m.", "from 9 to 5 p.m."),
    ],
)
def test_hours_of_the_24_hour_clock_are_written_anew(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("de", "en")) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Preis: 5,- €", "de", "Preis: 5 €"),
        ("12,\u2013 oder 3,-- Euro", "de", "12 oder 3 Euro"),
        ("in 2020,-x", "de", "in 2020,-x"),
        ("5,- €", "en", "5,- €"),
    ],
)
def test_a_dash_for_no_cents_is_left_out(text: str, language: str, expected: str) -> None:
    assert without_dash_cents(text, language) == expected
