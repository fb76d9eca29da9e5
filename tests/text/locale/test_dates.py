"""Dates: which are found, how English and German write them, and which an output lacks."""

import pytest

from specdec_cli.text.locale.amounts import may_be_alone, written_alone
from specdec_cli.text.locale.dates import find_dates, lost_dates, spelled_dates, with_dates, with_long_weekdays, written_date
from specdec_cli.text.locale.other_dates import substitutes, with_months_in_digits, with_named_months
from tests.tables import tables

CASES = tables(__file__)

EN_DE, DE_EN = ("en", "de"), ("de", "en")


@pytest.mark.parametrize(("text", "german"), CASES.english_dates_are_found_and_written_in_german)
def test_english_dates_are_found_and_written_in_german(text: str, german: list[str]) -> None:
    assert [written_date(each, "de") for each in find_dates(text, "en")] == german


@pytest.mark.parametrize(("text", "english"), CASES.german_dates_are_found_and_written_in_english)
def test_german_dates_are_found_and_written_in_english(text: str, english: list[str]) -> None:
    assert [written_date(each, "en") for each in find_dates(text, "de")] == english


def test_dates_of_other_languages_are_left_alone() -> None:
    assert find_dates("le 3 juin 2028", "fr") == ()
    assert lost_dates("on 3 June 2028", "le 3 juillet", ("en", "fr")) == []
    assert spelled_dates("le 3 janv. 2028", "fr") == "le 3 janv. 2028"
    assert with_dates("on 3 June 2028", "Juni 3, 2028", ("en", "en")) == "Juni 3, 2028"
    assert written_alone("3 June", ("en", "fr")) is None


@pytest.mark.parametrize(("source", "output", "expected"), CASES.the_parts_of_a_date_are_put_in_order)
def test_the_parts_of_a_date_are_put_in_order(source: str, output: str, expected: str) -> None:
    assert with_dates(source, output, EN_DE) == expected


@pytest.mark.parametrize(("source", "output", "lost"), CASES.lost_dates_are_those_with_another_value)
def test_lost_dates_are_those_with_another_value(source: str, output: str, lost: list[str]) -> None:
    assert [each.text for each in lost_dates(source, output, EN_DE)] == lost


@pytest.mark.parametrize(("source", "output"), CASES.dates_in_odd_places_are_lost_if_they_are_strict)
def test_dates_in_odd_places_are_lost_if_they_are_strict(source: str, output: str) -> None:
    assert lost_dates(source, output, EN_DE) == []
    assert len(lost_dates(source, output, EN_DE, are_strict=True)) == 1


def test_short_names_are_written_in_full() -> None:
    assert spelled_dates("Due Jan. 5, 2026 or 6 Feb. In the 1990's.", "en") == "Due January 5, 2026 or 6 February In the 1990s."
    assert spelled_dates("The May 2027 annual report and an October 2026 issue", "en") == (
        "The annual report of May 2027 and an issue of October 2026"
    )
    assert spelled_dates("In May 2027 reports came. The May 2027 house", "en") == "In May 2027 reports came. The May 2027 house"
    assert spelled_dates("Am 5. Dez. ist Sept. 2028.", "de") == "Am 5. Dezember ist September 2028."


def _read(text: str, languages: tuple[str, str]) -> list[str]:
    return [each.text for each in substitutes(text, find_dates(text, languages[0]), languages)]


def test_dates_are_read_as_others_that_models_know() -> None:
    assert _read("Come by 12 April 2028.", EN_DE) == ["Come by the 3rd of May."]
    assert _read("Closed until April 2028.", EN_DE) == ["Closed until June."]
    assert _read("We are closed 3\u20135 June.", EN_DE) == ["We are closed every day."]
    assert _read("Ge\u00f6ffnet von Mo\u2013Fr.", DE_EN) == ["Ge\u00f6ffnet jeden Tag."]
    assert _read("On May 4, June 5 and July 6 it rained.", EN_DE)[0] == "On the 3rd of May it rained."
    assert _read("Am 4. Mai, am 5. Juni oder am 6. Juli.", DE_EN)[0] == "Am 3. Mai."
    assert _read("It rains on 3 and 5 June.", EN_DE) == ["It rains on the 3rd of May."]


@pytest.mark.parametrize(
    ("text", "output", "expected"),
    [
        ("Come by 12 April 2028.", "Komm bis zum 3. Mai.", "Komm bis zum 12. April 2028."),
        ("Closed until April 2028.", "Bis Juni zu.", "Bis April 2028 zu."),
        ("We are closed 3\u20135 June.", "Wir haben jeden Tag zu.", "Wir haben vom 3. bis 5. Juni zu."),
        ("Mon-Fri we are closed.", "Jeden Tag haben wir zu.", "Von Montag bis Freitag haben wir zu."),
        ("It rains on 3 and 5 June.", "Am 3. Mai regnet es.", "Am 3. und 5. Juni regnet es."),
        ("Come by 12 April 2028.", "Komm bis Mai.", None),
        ("Come by 12 April 2028.", "Komm im Mai am 3. Mai.", None),
    ],
)
def test_the_dates_are_written_in_the_place_of_the_others(text: str, output: str, expected: str | None) -> None:
    assert next(substitutes(text, find_dates(text, "en"), EN_DE)).restored(output) == expected


@pytest.mark.parametrize(
    ("text", "languages", "expected"),
    [
        ("June 3, 2028", EN_DE, "3. Juni 2028"),
        (" Jan 5, 2026 ", EN_DE, " 5. Jan. 2026 "),
        ("Mon\u2013Fri", EN_DE, "Mo\u2013Fr"),
        ("3. Juni 2028", DE_EN, "June 3, 2028"),
        ("Mo\u2013Fr", DE_EN, "Mon\u2013Fri"),
        ("1990s", EN_DE, "1990er"),
        ("June 3, 2028 or so", EN_DE, None),
        ("2028-06-03", EN_DE, None),
        ("06/23/2028", EN_DE, "23.06.2028"),
        ("1.6.2028 - 3.6.2028", EN_DE[::-1], "June 1, 2028 - June 3, 2028"),
    ],
)
def test_dates_alone_are_written_as_in_the_other_language(text: str, languages: tuple[str, str], expected: str | None) -> None:
    assert written_alone(text, languages) == expected


def test_texts_without_letters_may_be_quantities_alone() -> None:
    assert all(map(may_be_alone, ("$5", "1,299.50", "10:30", "12%", "5\u201310 \u20ac", "-3.5", "10-15%")))
    assert not any(map(may_be_alone, ("2028", "...", "#5", "1.", "", "5 / 10", "?")))


@pytest.mark.parametrize(("text", "expected"), CASES.days_in_digits_have_the_names_of_their_months)
def test_days_in_digits_have_the_names_of_their_months(text: str, expected: str) -> None:
    assert with_named_months(text, "de") == expected


def test_english_dates_in_digits_are_read_if_one_number_is_no_month() -> None:
    text = "Due 12/24/2024, 25/12/24, 03/04/2025, by 2024-12-24."
    assert with_named_months(text, "en") == "Due December 24, 2024, December 25, 2024, 03/04/2025, by December 24, 2024."
    output = "Fällig am 24. Dezember 2024, 25. Dezember 2024 und am Dienstag, den 24. Dezember 2025."
    assert with_months_in_digits("Due 12/24/2024, 25/12/24", output, EN_DE) == output.replace("24. Dezember 2024", "24.12.2024").replace(
        "25. Dezember 2024", "25.12.24"
    )
    assert with_months_in_digits("am 2024-12-24", "on Tuesday, December 24, 2024", EN_DE[::-1]) == "on Tuesday, 2024-12-24"
    assert with_months_in_digits("am 24.12.2024", "on December 24, 2024", EN_DE[::-1]) == "on December 24, 2024"


@pytest.mark.parametrize(("text", "language", "expected"), CASES.short_weekdays_are_written_in_full)
def test_short_weekdays_are_written_in_full(text: str, language: str, expected: str) -> None:
    assert with_long_weekdays(text, language) == expected


def test_both_ends_of_a_range_of_weekdays_are_needed() -> None:
    assert lost_dates("Von Montag bis Freitag", "Monday through 8 a.m.", EN_DE[::-1])
    assert not lost_dates("Von Montag bis Freitag", "Monday through Friday", EN_DE[::-1])
    assert with_dates("Montag bis Freitag", "monday to friday, 8-12", EN_DE[::-1]) == "Monday to Friday, 8-12"
