"""Numbers, labels, prices and times: where they are, how languages write them, and what an output makes of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.corpus.cleaning import repaired
from specdec_cli.text.locale.amounts import written_alone
from specdec_cli.text.locale.languages import convention
from specdec_cli.text.locale.matching import lost_numbers, realise, tidied_numbers
from specdec_cli.text.locale.quantities import find_quantities, without_dash_cents, written, written_in
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "expected"), CASES.numbers_labels_and_prices_are_found)
def test_numbers_labels_and_prices_are_found(text: str, expected: list[list[str]]) -> None:
    assert [[each.text, each.kind] for each in find_quantities(text, "en") if len(each.text) > 1 or each.sign] == expected


@pytest.mark.parametrize(("text", "expected"), CASES.times_of_the_12_hour_clock_are_found)
def test_times_of_the_12_hour_clock_are_found(text: str, expected: list[list[int]]) -> None:
    assert [[each.minutes, each.exact] for each in find_quantities(text, "en") if each.kind == "time"] == expected


@pytest.mark.parametrize(("text", "expected"), CASES.times_of_the_24_hour_clock_are_found)
def test_times_of_the_24_hour_clock_are_found(text: str, expected: list[int]) -> None:
    assert [each.minutes for each in find_quantities(text, "de") if each.kind == "time"] == expected


@pytest.mark.parametrize(("text", "language", "expected"), CASES.a_quantity_is_written_as_in_the_language)
def test_a_quantity_is_written_as_in_the_language(text: str, language: str, expected: str) -> None:
    (quantity,) = find_quantities(text, "en")
    assert written(quantity, language) == expected


@pytest.mark.parametrize(("source", "output", "expected"), CASES.an_output_gets_the_values_of_its_source)
def test_an_output_gets_the_values_of_its_source(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("en", "de")) == expected


@pytest.mark.parametrize(("source", "output", "expected"), CASES.english_has_one_form_of_times_and_prices)
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


@pytest.mark.parametrize(("source", "output", "lost"), CASES.values_that_an_output_lacks_are_lost)
def test_values_that_an_output_lacks_are_lost(source: str, output: str, lost: list[str]) -> None:
    assert [each.text for each in lost_numbers(source, output, ("en", "de"))] == lost


def test_quantities_in_spans_are_written_and_spans_moved() -> None:
    text, spans = written_in("It is \u20ac1,000.50 and 1,000.", [(6, 15)], ("en", "fr"))
    assert text == "It is 1\u202f000,50\u00a0\u20ac and 1,000." and spans == [(6, 16)]
    assert written_in("a 5 PM b", [(2, 6)], ("en", "de")) == ("a 17:00 Uhr b", [(2, 11)])


@pytest.mark.parametrize(("source", "output", "expected"), CASES.a_range_of_times_keeps_its_dash)
def test_a_range_of_times_keeps_its_dash(source: str, output: str, expected: str) -> None:
    assert tidied_numbers(source, output) == expected


def test_a_time_has_one_mark() -> None:
    assert tidied_numbers("at 5:30 pm, 5 pm", "um 17:30 Uhr Uhr, 5 Uhr") == "um 17:30 Uhr, 5 Uhr"


@pytest.mark.parametrize(("source", "output", "expected"), CASES.words_do_not_stick_to_numbers)
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


@pytest.mark.parametrize(("source", "target", "expected"), CASES.numbers_of_a_target_are_repaired)
def test_numbers_of_a_target_are_repaired(source: str, target: str, expected: str) -> None:
    assert repaired(source, target, ("en", "de")) == expected
    assert repaired(source, expected, ("en", "de")) == expected
    assert repaired(source, target, ("en", "xx")) == repaired(source, target, ("xx", "de")) == target


@pytest.mark.parametrize(("source", "target", "expected"), CASES.numbers_of_an_english_target_are_repaired)
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


@pytest.mark.parametrize(("source", "output", "expected"), CASES.hours_of_the_24_hour_clock_are_written_anew)
def test_hours_of_the_24_hour_clock_are_written_anew(source: str, output: str, expected: str) -> None:
    assert realise(source, output, ("de", "en")) == expected


@pytest.mark.parametrize(("text", "language", "expected"), CASES.a_dash_for_no_cents_is_left_out)
def test_a_dash_for_no_cents_is_left_out(text: str, language: str, expected: str) -> None:
    assert without_dash_cents(text, language) == expected
