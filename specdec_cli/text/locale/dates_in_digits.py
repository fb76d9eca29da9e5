"""Dates in digits, such as 24.12.2024, 12/24/2024 and 2024-12-24, which models read better with the names of their months."""

import re
from collections.abc import Iterator
from functools import cache

from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.dates import Date, find_dates, knows_dates, month_name
from specdec_cli.text.locale.quantities import NO_TEXT, Languages, hidden
from specdec_cli.text.protect.spans import protected_spans

_DAY, _MONTH, _YEAR = r"(?P<day>0?[1-9]|[12]\d|3[01])", r"(?P<month>0?[1-9]|1[0-2])", r"(?P<year>(?:19|2[01])\d\d)"
_DAY_OVER_12 = r"(?P<day>1[3-9]|2\d|3[01])"
_IN_TWO = r"(?P<day>0[1-9]|[12]\d|3[01])\.(?P<month>0[1-9]|1[0-2])\."
_ISO = rf"(?P<date>(?P<year>\d{{4}})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01]))(?! {NO_TEXT})"
_FIRST = r"(?:(?P<first>0?[1-9]|[12]\d|3[01])\.(?:\s?(?P<first_month>0?[1-9]|1[0-2])\.)?(?P<dash>\s?[-\u2013]\s?))?"
"""The first day of a range."""
_BEFORE_IN_GERMAN = (
    r"\b(?:ab|am|bis|das|dem|den|der|des|nach|seit|und|vom|vor|zum|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
    r"|(?:mo|di|mi|do|fr|sa|so)\b\.?),? "
)
_BEFORE_IN_ENGLISH = r"\b(?:on|by|until|till|since|from|to|of|before|after|dated|and|or) "
"""Words that show that a date follows, and no number of a chapter or version."""
_BEGIN, _END = r"(?<!version )(?<!release )(?<!kapitel )(?<!abschnitt )(?<![\w.,:/+-])", r"(?!\w|[.,:/-]\d)"
_PATTERNS = {
    "de": (
        rf"{_BEGIN}(?P<date>{_FIRST}{_DAY}\.\s?{_MONTH}\.\s?{_YEAR}){_END}",
        rf"{_BEGIN}(?P<date>{_FIRST}{_IN_TWO}(?P<year>\d\d)){_END}",
        rf"{_BEGIN}(?P<date>(?P<month>0[1-9]|1[0-2])\.{_YEAR}){_END}",
        rf"{_BEFORE_IN_GERMAN}(?P<date>{_FIRST}{_DAY}\.\s?{_MONTH}\.(?:(?P<year>\d\d){_END}|(?![\w.]|\s?\d{{4}})))",
        rf"{_BEFORE_IN_GERMAN}{_ISO}{_END}",
    ),
    "en": (
        rf"{_BEGIN}(?P<date>{_MONTH}/{_DAY_OVER_12}/(?P<year>(?:19|2[01])?\d\d)){_END}",
        rf"{_BEGIN}(?P<date>{_DAY_OVER_12}/{_MONTH}/(?P<year>(?:19|2[01])?\d\d)){_END}",
        rf"{_BEFORE_IN_ENGLISH}{_ISO}{_END}",
    ),
}
"""Patterns of dates. In English, those with two numbers up to 12 are no dates: either may be the month."""
_MAY_BE_DATE = re.compile(r"\d\s?[./-]\s?\d")
_WEEKDAY = re.compile(r"(?:[^\W\d_]+\.?,? (?:(?:on )?the |de[mnrs] |am )?)?")
"""A weekday, with what is between it and the day."""
_LONG_WORD = re.compile(r"[^\W\d_]{4}")
"""What a text in capitals has that is no abbreviation."""
_LATEST = 49
"""The last year of this century that is written with two digits."""
_SPAN = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}|\d{1,2}/\d{1,2}/\d{4}|\d{4}-\d\d-\d\d")
"""Protected spans that may be dates."""


def with_named_months(text: str, language: str) -> str:
    """Return `text` with the names of months in its dates in digits: "am 3.10." becomes "am 3. Oktober", "12/24/2024" "December 24, 2024".

    German days without a year need a word such as "am" or a weekday before them, and so do dates such as 2024-12-24. English dates in which
    both numbers may be the month stay.
    """
    code, edits = short_code(language), list[Edit]()
    for found in _found(text, code):
        month = month_name(int(found["month"]), code)
        year, groups = _year(found), found.groupdict()
        if code == "en":
            shown = f"{month} {int(found['day'])}, {year}"
        else:
            first_month = groups.get("first_month") and month_name(int(groups["first_month"]), code)
            first = f"{int(groups['first'])}.{f' {first_month}' if first_month else ''}{groups['dash']}" if groups.get("first") else ""
            day = f"{int(found['day'])}. " if groups.get("day") else ""
            shown = f"{first}{day}{month}{f' {year}' if year else ''}"
        stop = "." * (found["date"].endswith(".") and found.end() == len(text))
        edits.append(
            Edit(*found.span("date"), found["date"], (shown.upper() if text.isupper() and _LONG_WORD.search(text) else shown) + stop)
        )
    return apply_edits(text, sorted(edits))


def with_months_in_digits(source: str, output: str, languages: Languages) -> str:
    """Return `output`, the translation of `source` with the names of months, with those dates in digits that both languages read alike:
    2024-12-24, and in German dates with a year of an English source.
    """
    if not knows_dates(languages):
        return output
    for found in _found(source, short_code(languages[0])):
        is_iso = "-" in found["date"] and "." not in found["date"]
        if not _year(found) or not found.groupdict().get("day") or not (is_iso or short_code(languages[1]) == "de"):
            continue
        wanted = Date(0, 0, "", "day", day=int(found["day"]), month=int(found["month"]), year=_year(found)).value
        digits = found["date"] if is_iso else f"{found['day']:0>2}.{found['month']:0>2}.{found['year']}"
        there = [each for each in find_dates(output, languages[1]) if each.value == wanted]
        if len(there) == 1:
            weekday = _WEEKDAY.match(there[0].text) if there[0].weekday else None
            start = there[0].start + (weekday.end() if weekday else 0)
            output = f"{output[:start]}{digits}{output[there[0].end :]}"
    return output


def _year(found: re.Match[str]) -> int:
    """The year of a date; 0 if it has none."""
    year = int(found["year"] or 0)
    return year + (2000 if year <= _LATEST else 1900) if len(found["year"] or "") == 2 else year


def _found(text: str, code: str) -> Iterator[re.Match[str]]:
    """The dates in digits of a text outside of its protected spans, each as the group `date`."""
    if code not in _PATTERNS or not _MAY_BE_DATE.search(text):
        return
    shown = hidden(text, [span for span in protected_spans(text) if not _SPAN.fullmatch(text, *span)])
    for pattern in _patterns(code):
        dates = list(pattern.finditer(shown))
        yield from dates
        shown = hidden(shown, [found.span("date") for found in dates])


@cache
def _patterns(code: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in _PATTERNS[code])
