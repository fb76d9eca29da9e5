"""Dates that a model reads in the place of others: with the name of the month for those in digits, and any other one, such as "the 3rd of
May", for those that its outputs lack. What stands for them in the output is written anew.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.dates import DATE_WORDS, Date, find_dates, joint, knows_dates, month_name, written_date
from specdec_cli.text.locale.quantities import Languages
from specdec_cli.text.protect.spans import NO_TEXT, hidden, protected_spans

_DAY, _MONTH, _FULL_YEAR = r"(?P<day>0?[1-9]|[12]\d|3[01])", r"(?P<month>0?[1-9]|1[0-2])", r"(?P<year>(?:19|2[01])\d\d)"
_DAY_OVER_12 = r"(?P<day>1[3-9]|2\d|3[01])"
_IN_TWO = r"(?P<day>0[1-9]|[12]\d|3[01])\.(?P<month>0[1-9]|1[0-2])\."
_ISO = rf"(?P<date>(?P<year>\d{{4}})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01]))(?! {NO_TEXT})"
_FIRST_DAY = r"(?:(?P<first>0?[1-9]|[12]\d|3[01])\.(?:\s?(?P<first_month>0?[1-9]|1[0-2])\.)?(?P<dash>\s?[-\u2013]\s?))?"
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
        rf"{_BEGIN}(?P<date>{_FIRST_DAY}{_DAY}\.\s?{_MONTH}\.\s?{_FULL_YEAR}){_END}",
        rf"{_BEGIN}(?P<date>{_FIRST_DAY}{_IN_TWO}(?P<year>\d\d)){_END}",
        rf"{_BEGIN}(?P<date>(?P<month>0[1-9]|1[0-2])\.{_FULL_YEAR}){_END}",
        rf"{_BEFORE_IN_GERMAN}(?P<date>{_FIRST_DAY}{_DAY}\.\s?{_MONTH}\.(?:(?P<year>\d\d){_END}|(?![\w.]|\s?\d{{4}})))",
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
"""Four letters in a row. A text in capitals without them consists of abbreviations."""
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


def _year(match: re.Match[str]) -> int:
    """The year of a date; 0 if it has none."""
    year = int(match["year"] or 0)
    return year + (2000 if year <= _LATEST else 1900) if len(match["year"] or "") == 2 else year


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


_DAYS = ((3, 5), (1, 7), (4, 10), (5, 6))
_ORDINALS = {1: "1st", 3: "3rd", 4: "4th", 5: "5th"}
_MONTHS = (6, 10, 5, 7)
_DECADE = 1990
_LONGEST_BEFORE = 20
_EVERY_DAY = Date(0, 0, "", "weekdays")
"""What stands for a range as an adverb."""


class DateList(NamedTuple):
    """Days in a list, and the conjunction before the last one, in English; "" if there is none, or if it is in the last range."""

    dates: tuple[Date, ...]
    conjunction: str

    def written(self, language: str) -> str:
        """The list as a language writes it."""
        *first, last = (written_date(each, language) for each in self.dates)
        return f"{', '.join(first)}{joint(self.conjunction, language) if self.conjunction else ', '}{last}"


class Substitute(NamedTuple):
    """A text in which dates are replaced; `replaced` are pairs of the date in the text and the right one, or the right ones of a list, and
    `language` is that of the translation.
    """

    text: str
    replaced: Sequence[tuple[Date, Date | DateList]]
    language: str

    def restored(self, output: str) -> str | None:
        """The translation `output` of the text, with the right dates put back. None if a substitute, or the name of its month, does not
        stand in it exactly once.
        """
        edits, months, words, language = list[Edit](), set[str](), DATE_WORDS[short_code(self.language)], self.language
        for other, date in self.replaced:
            places = _places(other, output, language)
            if len(places) != 1:
                return None
            start, end, separator = places[0]
            months |= {month_name(other.month, language)} if other.month else set()
            if isinstance(date, DateList):
                edits.append(Edit(start, end, output[start:end], date.written(language)))
                continue
            is_adverb = other is _EVERY_DAY
            written = written_date(date, language, joint("to", language) if is_adverb or date.kind in ("weekdays", "months") else separator)
            if is_adverb:
                written = _as_at(output, start, (words.since if date.kind == "day" else words.of_names) + written)
            edits.append(Edit(start, end, output[start:end], written))
        rest = apply_edits(output, [each._replace(text="") for each in sorted(edits)])
        return None if any(month in rest for month in months) else apply_edits(output, sorted(edits))


_Shown = tuple[tuple[int, str, Date], int, Date | DateList]
"""What `_other` returns, the end of what it replaces, and the date or list that is replaced."""


def substitutes(text: str, lost: Collection[Date], languages: Languages) -> Iterator[Substitute]:
    """Yield the `text` with one day for each list of days in which some of the dates in `lost` are, if there is one, and then with another
    date for each lost date: a day such as the 3rd of May for a day, a month alone for one with a year, "every day" or one day for a range.
    """
    code, dates = short_code(languages[0]), [date for date in find_dates(text, languages[0]) if date in lost]
    lists = [each for each in _lists(text, code) if any(date in lost for date in each.dates)]
    days: list[_Shown] = [(_day(text, each.dates[0].start, code, place), each.dates[-1].end, each) for place, each in enumerate(lists)]
    others: list[_Shown] = [(_other(text, date, code, place), date.end, date) for place, date in enumerate(dates)]
    for shown in filter(None, (days, others)):
        edits = [Edit(start, end, text[start:end], new) for (start, new, _), end, _ in shown]
        yield Substitute(apply_edits(text, edits), [(other, date) for (_, _, other), _, date in shown], languages[1])


def _lists(text: str, code: str) -> Iterator[DateList]:
    """The lists of days in a text: at least two dates with a comma or conjunction between them."""
    run, word = list[Date](), ""
    for date in (*find_dates(text, code), None):
        between = DATE_WORDS[code].listed.fullmatch(text, run[-1].end, date.start) if run and date is not None else None
        if date is not None and date.kind == "day" and between is not None and not word:
            run, word = [*run, date], between["word"] or ""
            continue
        if len(run) > 1:
            yield DateList(tuple(run), joint(word))
        run, word = [date] if date is not None and date.kind == "day" else [], ""


def _other(text: str, date: Date, code: str, place: int) -> tuple[int, str, Date]:
    """For a date, the `place`-th one that is replaced in `text`: the offset where the replaced characters begin, the substitute as it is
    written there, and the substitute as a Date.
    """
    if date.is_range:
        return _other_range(text, date, code, place)
    if date.kind == "day":
        return _day(text, date.start, code, place)
    if date.kind == "decade":
        other = Date(0, 0, "", "decade", year=_DECADE - 10 * place)
        return date.start, _as_at(text, date.start, written_date(other, code)), other
    month = _MONTHS[place % len(_MONTHS)]
    return date.start, _as_at(text, date.start, month_name(month, code)), Date(0, 0, "", "month", month=month)


def _other_range(text: str, date: Date, code: str, place: int) -> tuple[int, str, Date]:
    """The same for a range."""
    words = DATE_WORDS[code]
    before = words.before.search(text[max(date.start - _LONGEST_BEFORE, 0) : date.start])
    start = date.start - len(before.group()) if before and (before["range"] or before["between"]) else date.start
    if date.separator not in ("and", "or") and (not before or before["range"]):
        return start, _as_at(text, start, words.every_day), _EVERY_DAY
    if date.kind == "day":
        return _day(text, date.start, code, place, "" if before else words.on)
    begin, end = (date.first[2], date.weekday) if date.kind == "weekdays" else (1, 5)
    other = Date(0, 0, "", "weekdays", weekday=end, first=(0, 0, begin))
    first, last = written_date(other, code, "|").split("|")
    opening, between = "", words.to_name
    if before and before["between"]:
        opening, between = words.between
    elif date.separator in ("and", "or"):
        start, between = date.start, words.between[1]
    return start, _as_at(text, start, f"{opening}{first}{between}{last}"), other


def _day(text: str, start: int, code: str, place: int, before: str = "") -> tuple[int, str, Date]:
    """A day in the place of what begins at `start`, as models read it well, with what is `before` it."""
    (day, month), long = _DAYS[place % len(_DAYS)], DATE_WORDS[code].long_day
    other = Date(0, 0, "", "day", day=day, month=month)
    new = (
        long.format(day="3rd" if day == 3 else "1st" if day == 1 else f"{day}th", month=month_name(month, code))
        if long
        else written_date(other, code)
    )
    return start, _as_at(text, start, before + new), other


def _as_at(text: str, start: int, new: str) -> str:
    """A new text with a capital if it begins a sentence."""
    is_beginning = not text[:start].strip(" \"'(\u201c\u201e") or text[:start].rstrip()[-1:] in ".!?"
    return new[0].upper() + new[1:] if is_beginning else new


def _places(other: Date, output: str, language: str) -> list[tuple[int, int, str]]:
    """Where a date is in an output, and what is between its ends."""
    if other is _EVERY_DAY:
        return [(*found.span(), "") for found in re.finditer(DATE_WORDS[short_code(language)].every_day, output, re.IGNORECASE)]
    if other.kind == "month":
        name = month_name(other.month, language)
        return [(*found.span(), "") for found in re.finditer(rf"(?<![\w-]){name}(?![\w-])(?!,? \d)", output)]
    found = [each for each in find_dates(output, language) if each.value == other.value]
    return [(each.start, each.end, each.between) for each in found]
