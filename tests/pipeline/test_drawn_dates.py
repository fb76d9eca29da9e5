"""Dates, years, ranges of dates and of days, and ranges of prices, drawn from templates: how many are in the translations as the target
language writes them, and that no wrong one is without a warning.
"""

import random
import re

import pytest

from tests.drawn import Drawn, Kind, check_translations, kinds
from tests.tables import tables

TEXTS = tables(__file__)


def _year(draw: random.Random) -> int:
    return draw.choice((draw.randrange(1901, 2000), draw.randrange(2000, 2040), draw.randrange(2018, 2032)))


def _ordinal(day: int) -> str:
    suffix = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{suffix}"


def _german(day: int, month: int, year: int | None = None) -> str:
    """A pattern of a day in German."""
    return rf"(?<!\d)0?{day}\.\s(?:{TEXTS.german[month]}|{TEXTS.short_german[month]})" + (rf",? {year}(?!\d)" if year else r"(?!,? \d{4})")


def _english(day: int, month: int, year: int | None = None) -> str:
    """A pattern of a day in English."""
    name = rf"(?:{TEXTS.english[month]}|{TEXTS.short[month]}\.?)"
    end = rf",? {year}(?!\d)" if year else r"(?!,? \d{4})"
    return rf"(?:{name} {day}(?:st|nd|rd|th)?(?!\d)|(?<!\d){day}(?:st|nd|rd|th)? (?:of )?{name}){end}"


def months(draw: random.Random) -> Drawn:
    """A month with its year."""
    month, year = draw.randrange(12), _year(draw)
    source = draw.choice(TEXTS.in_month).format(f"{TEXTS.english[month]} {year}")
    german = rf"{TEXTS.german[month]}(?:s|-Ausgabe)? (?:des Jahres )?{year}(?!\d)|{TEXTS.german[month]}-{year}"
    return Drawn(source, (german,), (rf"\bam {TEXTS.german[month]}", r"\bam \d{4}"))


def months_in_german(draw: random.Random) -> Drawn:
    """A month with its year, in German."""
    month, year = draw.randrange(12), _year(draw)
    source = draw.choice(TEXTS.in_month_in_german).format(f"{TEXTS.german[month]} {year}")
    return Drawn(source, (rf"{TEXTS.english[month]}(?:,| of)? {year}(?!\d)",), (rf"\bon {TEXTS.english[month]} \d{{4}}",))


def days(draw: random.Random) -> Drawn:
    """A day of a month."""
    month, day = draw.randrange(12), draw.randrange(1, 29)
    name = TEXTS.english[month]
    shown = draw.choice((f"{day} {name}", f"{name} {day}", f"{name} {_ordinal(day)}", f"the {_ordinal(day)} of {name}"))
    return Drawn(draw.choice(TEXTS.on_day).format(shown), (_german(day, month),))


def days_in_german(draw: random.Random) -> Drawn:
    """A day of a month, in German."""
    month, day = draw.randrange(12), draw.randrange(1, 29)
    return Drawn(draw.choice(TEXTS.on_day_in_german).format(f"{day}. {TEXTS.german[month]}"), (_english(day, month),))


def dates(draw: random.Random) -> Drawn:
    """A day of a month and year."""
    month, day, year = draw.randrange(12), draw.randrange(1, 29), _year(draw)
    name = TEXTS.english[month]
    shown = draw.choice((f"{day} {name} {year}", f"{name} {day}, {year}", f"{name} {_ordinal(day)}, {year}"))
    return Drawn(draw.choice(TEXTS.on_day).format(shown), (_german(day, month, year),))


def dates_in_german(draw: random.Random) -> Drawn:
    """A day of a month and year, in German."""
    month, day, year = draw.randrange(12), draw.randrange(1, 29), _year(draw)
    return Drawn(draw.choice(TEXTS.on_day_in_german).format(f"{day}. {TEXTS.german[month]} {year}"), (_english(day, month, year),))


def short_dates(draw: random.Random) -> Drawn:
    """A day of a month with a short name, with a year or without."""
    month, day, year = draw.choice([each for each in range(12) if each != 4]), draw.randrange(1, 29), _year(draw)
    name, stop = TEXTS.short[month], draw.choice(("", "."))
    shown = draw.choice((f"{day} {name}{stop}", f"{name}{stop} {day}", f"{day} {name}{stop} {year}", f"{name}{stop} {day}, {year}"))
    source = draw.choice(TEXTS.on_day).format(shown).replace("..", ".")
    return Drawn(source, (_german(day, month, year if str(year) in shown else None),))


def short_dates_in_german(draw: random.Random) -> Drawn:
    """A day of a month with a short name, in German."""
    month, day, year = draw.choice((0, 1, 3, 7, 8, 9, 10, 11)), draw.randrange(1, 29), draw.choice((None, _year(draw)))
    name = ("Sept" if month == 8 else TEXTS.german[month][:3]) + "."
    source = draw.choice(TEXTS.on_day_in_german).format(f"{day}. {name} {year}" if year else f"{day}. {name}").replace("..", ".")
    return Drawn(source, (_english(day, month, year),))


def weekdays(draw: random.Random) -> Drawn:
    """A day of a month with its weekday."""
    month, day, year, weekday = draw.randrange(12), draw.randrange(1, 29), draw.choice((None, _year(draw))), draw.randrange(7)
    name, of_week = TEXTS.english[month], TEXTS.english_days[weekday]
    end = f" {year}" if year else ""
    shown = draw.choice((f"{of_week}, {day} {name}{end}", f"{of_week}, {name} {day}{end and ','}{end}", f"{of_week} {day} {name}{end}"))
    german = TEXTS.german_days[weekday].replace("Samstag", "(?:Samstag|Sonnabend)")
    return Drawn(draw.choice(TEXTS.on_day).format(shown), (rf"{german},? (?:(?:de[nmr]|am) )?" + _german(day, month, year),))


def weekdays_in_german(draw: random.Random) -> Drawn:
    """A day of a month with its weekday, in German."""
    month, day, year, weekday = draw.randrange(12), draw.randrange(1, 29), draw.choice((None, _year(draw))), draw.randrange(7)
    end = f" {year}" if year else ""
    article = draw.choice((",", ", dem", ", den"))
    source = draw.choice(("Wir treffen uns am {}.", "Das Konzert ist am {}.", "Der Kurs beginnt am {}.", "Er kam am {} zurück."))
    shown = f"{TEXTS.german_days[weekday]}{article} {day}. {TEXTS.german[month]}{end}"
    return Drawn(source.format(shown), (rf"{TEXTS.english_days[weekday]},? (?:(?:on )?the )?" + _english(day, month, year),))


def years(draw: random.Random) -> Drawn:
    """A year alone."""
    year = _year(draw)
    return Drawn(draw.choice(TEXTS.in_year).format(year), (rf"(?<!\d){year}(?![\d.])(?!er)|{year}\.$",))


def years_in_german(draw: random.Random) -> Drawn:
    """A year alone, in German."""
    year = _year(draw)
    return Drawn(draw.choice(TEXTS.in_year_in_german).format(year), (rf"(?<!\d){year}(?![\ds])",))


def decades(draw: random.Random) -> Drawn:
    """A decade."""
    decade = draw.choice((*range(1900, 2020, 10), *range(1850, 1900, 10)))
    apostrophe = draw.choice(("", "", "'"))
    return Drawn(draw.choice(TEXTS.in_decade).format(f"{decade}{apostrophe}s"), (rf"(?<!\d){decade}ern?(?!\w)",), (r"[Jj]ahren? Jahre",))


def decades_in_german(draw: random.Random) -> Drawn:
    """A decade, in German."""
    decade = draw.choice((*range(1900, 2020, 10), *range(1850, 1900, 10)))
    return Drawn(draw.choice(TEXTS.in_decade_in_german).format(f"{decade}er"), (rf"(?<!\d){decade}['\u2019]?s(?!\w)",))


def ranges_of_days(draw: random.Random) -> Drawn:
    """Two days of a month with a dash or words between them."""
    month, day = draw.randrange(12), draw.randrange(1, 20)
    end, name, dash = day + draw.randrange(1, 9), TEXTS.english[month], draw.choice("-\u2013")
    year = draw.choice((None, None, _year(draw)))
    more = f" {year}" if year else ""
    shown = draw.choice(
        (
            f"{day}{dash}{end} {name}{more}",
            f"{name} {day}{dash}{end}{more and ','}{more}",
            f"from {day} to {end} {name}{more}",
            f"from {name} {day} to {end}{more and ','}{more}",
            f"from {name} {day} to {name} {end}{more and ','}{more}",
        )
    )
    return Drawn(draw.choice(TEXTS.in_range).format(shown), (_german_range(day, end, month, year),))


def _german_range(day: int, end: int, month: int, year: int | None) -> str:
    return rf"(?<!\d){day}\.(?: {TEXTS.german[month]})?\s?(?:-|\u2013|bis(?: zum| einschließlich)?)\s?{_german(end, month, year)}"


def ranges_of_days_in_german(draw: random.Random) -> Drawn:
    """Two days of a month with a dash or words between them, in German."""
    month, day = draw.randrange(12), draw.randrange(1, 20)
    end, name, dash = day + draw.randrange(1, 9), TEXTS.german[month], draw.choice("-\u2013")
    year = draw.choice((None, None, _year(draw)))
    more = f" {year}" if year else ""
    shown = draw.choice(
        (
            f"vom {day}. bis {end}. {name}{more}",
            f"vom {day}. bis zum {end}. {name}{more}",
            f"vom {day}.{dash}{end}. {name}{more}",
            f"vom {day}. {name} bis {end}. {name}{more}",
        )
    )
    of_month, last, ordinal = TEXTS.english[month], rf",? {year}" if year else r"(?!,? \d{4})", "(?:st|nd|rd|th)?"
    between = r"\s?(?:-|\u2013|to(?: the)?|until(?: the)?|through)\s?"
    found = (
        rf"{of_month} {day}{ordinal}{between}(?:{of_month} )?{end}{ordinal}(?!\d){last}"
        rf"|(?<!\d){day}{ordinal}(?: {of_month})?{between}{end}{ordinal}(?: of)? {of_month}{last}"
    )
    return Drawn(draw.choice(TEXTS.in_range_in_german).format(shown), (found,))


def numeric_dates(draw: random.Random) -> Drawn:
    """Dates in digits: those of which the numbers show which is the month are written as in German, others stay."""
    year, month, day = _numeric(draw)
    if draw.random() < 0.3 or day < 13:
        shown = draw.choice((f"{year}-{month:02}-{day:02}", f"{month}/{draw.randrange(1, 13)}/{year}", f"{day}.{month}.{year}"))
        return Drawn(draw.choice(TEXTS.on_day).format(shown), keeps=(shown,))
    shown, german = draw.choice((f"{month}/{day}/{year}", f"{month:02}/{day}/{year}", f"{day}/{month}/{year}")), f"{day}.{month:02}.{year}"
    return Drawn(draw.choice(TEXTS.on_day).format(shown), (rf"(?<!\d){re.escape(german)}(?!\d)",), (r"\bauf \d", "/"))


def numeric_dates_in_german(draw: random.Random) -> Drawn:
    """Dates in digits, in German, have the names of months in English, but for those that begin with the year."""
    year, month, day = _numeric(draw)
    if draw.random() < 0.2:
        return Drawn(draw.choice(TEXTS.on_day_in_german).format(shown := f"{year}-{month:02}-{day:02}"), keeps=(shown,))
    shown = draw.choice(
        (f"{day}.{month}.{year}", f"{day:02}.{month:02}.{year}", f"{day}. {month}. {year}", f"{day:02}.{month:02}.{year % 100:02}")
    )
    return Drawn(draw.choice(TEXTS.on_day_in_german).format(shown), (_english(day, month - 1, year),), (r"\d\.\d",))


def _numeric(draw: random.Random) -> tuple[int, int, int]:
    return draw.randrange(1990, 2030), draw.randrange(1, 13), draw.randrange(1, 29)


def ranges_of_prices(draw: random.Random) -> Drawn:
    """Two amounts with a dash between them, and one sign or two."""
    first, last, sign, dash = *_two(draw), draw.choice("$€£"), draw.choice("-\u2013")
    shown = draw.choice((f"{sign}{first}{dash}{last}", f"{first}{dash}{last} {sign}", f"{sign}{first}{dash}{sign}{last}"))
    between = r"\s?(?:[-\u2013]|bis)\s?"
    german = rf"(?<!\d){first}(?:\s{re.escape(sign)})?{between}{last}\s{re.escape(sign)}"
    return Drawn(draw.choice(TEXTS.costs).format(shown), (german,), (rf"{re.escape(sign)}\s?\d",))


def ranges_of_prices_in_german(draw: random.Random) -> Drawn:
    """Two amounts with a dash between them, and one sign or two, in German."""
    first, last, sign, dash = *_two(draw), draw.choice("$€£"), draw.choice("-\u2013")
    shown = draw.choice((f"{first}{dash}{last} {sign}", f"{first} {sign}{dash}{last} {sign}", f"{sign}{first}{dash}{last}"))
    own = re.escape(sign)
    english = rf"{own}{first}\s?(?:[-\u2013]|to)\s?{own}?{last}(?!\d)(?!\s?{own})"
    return Drawn(draw.choice(TEXTS.costs_in_german).format(shown), (english,))


def _two(draw: random.Random) -> tuple[str, str]:
    first = draw.randrange(2, 90)
    last = first + draw.randrange(1, 60)
    return (f"{first}", f"{last}")


def ranges_of_percent(draw: random.Random) -> Drawn:
    """Two percentages with a dash between them."""
    (first, last), dash = _two(draw), draw.choice("-\u2013")
    shown = draw.choice((f"{first}{dash}{last}%", f"{first}{dash}{last} %", f"{first}%{dash}{last}%"))
    german = rf"(?<!\d){first}(?:\s%)?\s?(?:[-\u2013]|bis)\s?{last}(?:\u00a0%| Prozent)"
    return Drawn(draw.choice(TEXTS.shares).format(shown), (german,))


def ranges_of_percent_in_german(draw: random.Random) -> Drawn:
    """Two percentages with a dash between them, in German."""
    (first, last), dash = _two(draw), draw.choice("-\u2013")
    shown = draw.choice((f"{first}{dash}{last}\u00a0%", f"{first}{dash}{last} %", f"{first}\u00a0%{dash}{last}\u00a0%"))
    return Drawn(draw.choice(TEXTS.shares_in_german).format(shown), (rf"(?<!\d){first}%?\s?(?:[-\u2013]|to)\s?{last}(?:%| percent)",))


def ranges_of_weekdays(draw: random.Random) -> Drawn:
    """Two short names of weekdays or months with a dash between them, as in "Mon-Fri"."""
    long, there, short = draw.choice(((TEXTS.english_days, TEXTS.german_days, None), (TEXTS.english, TEXTS.german, TEXTS.short)))
    first, last = sorted(draw.sample(range(len(long)), 2))
    dash = draw.choice("-\u2013")
    names = [(short or [each[:3] for each in long])[place] for place in (first, last)]
    german = [rf"(?:{there[place]}|{there[place][:2] if short is None else there[place][:3]}\.?)" for place in (first, last)]
    return Drawn(
        draw.choice(TEXTS.open).format(dash.join(names)), (rf"\b{german[0]}\s?(?:[-\u2013]|bis(?: zum)?)\s?{german[1]}(?![^\W\d_])",)
    )


def ranges_of_weekdays_in_german(draw: random.Random) -> Drawn:
    """Two days of the week in short with a dash between them, in German."""
    first, last = sorted(draw.sample(range(7), 2))
    dash, stop = draw.choice("-\u2013"), draw.choice(("", "."))
    shown = f"{TEXTS.german_days[first][:2]}{stop}{dash}{TEXTS.german_days[last][:2]}{stop}"
    english = [rf"(?:{TEXTS.english_days[place]}|{TEXTS.english_days[place][:3]}\.?)" for place in (first, last)]
    return Drawn(
        draw.choice(TEXTS.open_in_german).format(shown), (rf"\b{english[0]}\s?(?:[-\u2013]|to|through)\s?{english[1]}(?![^\W\d_])",)
    )


def small_numbers(draw: random.Random) -> Drawn:
    """Sentences of few words with small numbers, each of which is there, as digits that stick to no word or as a word."""
    one, other = draw.randrange(1, 7), draw.randrange(1, 7)
    template = draw.choice(TEXTS.few)
    if " of {b}" in template:
        one, other = min(one, other), max(one, other) + (one == other)
    source = template.format(a=one, b=other)
    digits = [one, other] if "{b}" in template else [one]
    has = tuple(rf"(?i:(?<![\w.,]){number}(?![^\W\d_]|\d)|\b(?:{TEXTS.numerals[number - 1]})\b)" for number in digits)
    return Drawn(source, has, (r"\d[^\W\d_]",))


def days_in_digits(draw: random.Random) -> Drawn:
    """German days with the month in digits and without a year."""
    day, month = draw.randrange(1, 29), draw.randrange(12)
    written = (f"{day:02}", f"{month + 1:02}") if draw.random() < 0.3 else (day, month + 1)
    return Drawn(draw.choice(TEXTS.days_in_digits).format(*written), has=(rf"\b{day}(?:st|nd|rd|th)?\b", TEXTS.english[month]))


KINDS = (
    *kinds(97, days, dates, short_dates, weekdays, years, decades, ranges_of_days, numeric_dates, ranges_of_prices),
    *kinds(97, ranges_of_percent, ranges_of_weekdays, small_numbers),
    *kinds(96, months),  # "The October 2026 issue" is lost, and warned of
    *kinds(97, days_in_digits, months_in_german, days_in_german, dates_in_german, bundle="de-en"),
    *kinds(97, short_dates_in_german, weekdays_in_german, years_in_german, decades_in_german, bundle="de-en"),
    *kinds(97, ranges_of_days_in_german, numeric_dates_in_german, ranges_of_prices_in_german, bundle="de-en"),
    *kinds(97, ranges_of_percent_in_german, ranges_of_weekdays_in_german, bundle="de-en"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
@pytest.mark.parametrize("seed", [31, 32])
def test_drawn_dates_come_out_or_have_a_warning(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    check_translations(kind, seed, pytestconfig.cache)
