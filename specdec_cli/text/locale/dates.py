"""Dates in words, decades, and ranges of dates, weekdays and months: where they are in a text, and how a language writes them.

Only those of English and German are read and written. Dates in digits are read by other_dates.py; years alone are none here.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.languages import CODES, NUMBER_WORDS, known, known_pairs
from specdec_cli.text.locale.quantities import Languages
from specdec_cli.text.protect.spans import hidden, once, protected_spans

Kind = Literal["day", "month", "decade", "weekdays", "months"]
_DAY = r"(?P<day{0}>0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?P<year>1\d{3}|2[01]\d\d)(?![\w%]|[.,:]\d)"
_DECADE = r"['\u2019]?(?P<year>(?:1\d|20)?\d0)"
_DASH = re.compile(r"\s?[-\u2013]\s?")
_BEGIN = r"(?<![\w.,:/-])"
_TOKEN = re.compile(r"(?P<number>\d+)(?:st|nd|rd|th)?(?!\w)|[^\W\d_]+")
_BETWEEN_TOKENS = re.compile(r"[\s.,]*+(?:(?:[-\u2013]|\b(?:bis|zum|und|to|the|of|and|Uhr)\b)[\s.,]*+)?")
_LONGEST_BEFORE = 16
_IN_DATES = re.compile(r"[\d\u2013-]| bis ")
"""What is in each date and range of dates that is looked for."""
_NEVER = re.compile("(?!)")
_LONGEST_RUN = 6
_STOP_INSIDE = re.compile(r"(?: Uhr\b)?(?:\.(?=\s[a-z\u00e4\u00f6\u00fc]))?")


class DateWords(NamedTuple):
    """Words of a language around dates; en.toml and de.toml explain them. Those that have a default are optional in its file."""

    before_day: str
    after_day: str
    before_month: str
    before_year: str
    after_weekday: str
    decade: str
    decade_form: str
    to: str
    also: str
    before: re.Pattern[str]
    every_day: str
    since: str
    of_names: str
    to_name: str
    between: tuple[str, str]
    on: str
    listed: re.Pattern[str]
    separators: Mapping[str, str]
    ordinal: str = "(?!)"
    no_age: Sequence[str] = ()
    not_before_day: re.Pattern[str] = _NEVER
    not_before_range: re.Pattern[str] = _NEVER
    not_before_month: re.Pattern[str] = _NEVER
    before_both: Mapping[str, str] = {}
    before_amount: re.Pattern[str] = _NEVER
    after_amount: re.Pattern[str] = _NEVER
    month_adjectives: Sequence[str] = ()
    month_nouns: Sequence[str] = ()
    also_months: Mapping[str, int] = {}
    also_weekdays: Mapping[str, int] = {}
    capitals: bool = False
    short_and: tuple[str, str] = ("", "")
    long_day: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The words that a file of data has."""
        fields = {name.replace("-", "_"): value for name, value in values.items()}
        compiled = ("listed", "not_before_day", "not_before_range", "not_before_month", "before_amount", "after_amount")
        fields |= {name: re.compile(fields[name]) for name in compiled if name in fields}
        fields |= {"before": re.compile(fields["before"], re.IGNORECASE)}
        fields |= {name: fields[name].split() for name in ("no_age", "month_adjectives", "month_nouns") if name in fields}
        return cls(**fields | {"separators": known_pairs(fields["separators"]), "before_both": dict(fields.get("before_both", ()))})


DATE_WORDS = {code: DateWords.of(known(code)["dates"]) for code in CODES if "dates" in known(code)}
_NO_AGE = "".join(rf"(?<!\b{word} )" for words in DATE_WORDS.values() for word in words.no_age)
"""A pattern: no word is before that makes a decade an age."""
_ORDINAL_WORD = re.compile(rf"(?:{'|'.join(words.ordinal for words in DATE_WORDS.values())})$")


class _Names(NamedTuple):
    """The names of months and weekdays of a language, and its patterns of dates (CLDR)."""

    months: Sequence[str]
    short_months: Sequence[str]
    weekdays: Sequence[str]
    short_weekdays: Sequence[str]
    month: str
    day: str
    date: str
    weekday: str
    full: str


@dataclass(frozen=True, slots=True)
class Date:
    """A date, or a range of dates or of names, from `start` to `end` of a text.

    Its parts have no order or form of their own, as the digits of a `Quantity` do: what a language writes is made from names and numbers.

    - `day`, `month`, `year`, `weekday`: those of the date, or of the end of the range; 0 for what is not said. Months and weekdays are
      counted from 1 (January, Monday).
    - `first`: the day, month and weekday at which a range begins; zeros for a single date.
    - `separator`: what is between both, a dash with spaces or without, or "to", "and" or "or"; `between`: the same as it is in the text.
    """

    start: int
    end: int
    text: str
    kind: Kind
    day: int = 0
    month: int = 0
    year: int = 0
    weekday: int = 0
    first: tuple[int, int, int] = (0, 0, 0)
    separator: str = ""
    between: str = ""

    @property
    def value(self) -> tuple[object, ...]:
        """What a translation must not change. For a day, the weekday is left out, since it may stand elsewhere in the sentence."""
        day, month, weekday = self.first
        if self.kind == "day":
            return self.kind, self.day, self.month, self.year, day, month
        return self.kind, self.month, self.year, self.weekday, month, weekday

    @property
    def is_range(self) -> bool:
        """Whether it has a beginning and an end."""
        return any(self.first)


@cache
def knows_dates(languages: Languages) -> bool:
    """Whether dates are read and written between these languages."""
    codes = {*map(short_code, languages)}
    return len(codes) > 1 and codes <= _names().keys()


@once
def find_dates(text: str, language: str) -> tuple[Date, ...]:
    """The dates of a text outside of its protected spans, in order; none if they are not known in this language."""
    code = short_code(language)
    if code not in _names() or not _has_names(code).search(text):
        return ()
    shown, dates = hidden(text, protected_spans(text)), list[Date]()
    for kind, pattern in _patterns(code, text.isupper()):
        for match in pattern.finditer(shown):
            date = _date(match, kind, code)
            if kind != "day" or _is_day(match, date, DATE_WORDS[code]):
                dates.append(date)
        shown = hidden(shown, sorted((each.start, each.end) for each in dates))
    return tuple(sorted(dates, key=lambda each: each.start))


def written_date(date: Date, language: str, separator: str = "", *, is_short: bool = False) -> str:
    """A date as `language` writes it, a range with its own `separator` or this one, and with short names if it `is_short`."""
    code = short_code(language)
    names, between = _names()[code], separator or joint(date.separator, code)
    months, weekdays = (names.short_months, names.short_weekdays) if is_short else (names.months, names.weekdays)
    day, month, weekday = date.first

    def filled(pattern: str, day: int, month: int, weekday: int = 0, year: int = 0) -> str:
        parts = {"EEEE": weekdays[weekday - 1], "MMMM": months[month - 1], "d": f"{day}", "y": f"{year}"}
        return re.sub(r"EEEE|MMMM|d|y", lambda found: parts[found.group()], pattern)

    if date.kind == "decade":
        return DATE_WORDS[code].decade_form.format(date.year)
    if date.kind == "weekdays":
        return f"{weekdays[weekday - 1]}{between}{weekdays[date.weekday - 1]}"
    if date.kind == "months":
        last = filled(names.month, 0, date.month, year=date.year) if date.year else months[date.month - 1]
        return f"{months[month - 1]}{between}{last}"
    if date.kind == "month":
        return filled(names.month, 0, date.month, year=date.year)
    patterns = (names.day, names.date, names.weekday, names.full)
    last = filled(patterns[(date.year > 0) + 2 * (date.weekday > 0)], date.day, date.month, date.weekday, date.year)
    if not date.is_range:
        return last
    begin = filled(names.weekday if weekday else names.day, day, month, weekday)
    if month == date.month and not weekday:
        is_before = names.day.startswith("MMMM")
        begin, last = (
            (begin, last.removeprefix(f"{months[month - 1]} ")) if is_before else (begin.removesuffix(f" {months[month - 1]}"), last)
        )
    return f"{begin}{between}{last}"


def has_short_names(date: Date, language: str) -> bool:
    """Whether the months and weekdays of a date are written in short."""
    names = _names()[short_code(language)]
    found = [each.rstrip(".") for each in re.findall(r"[^\W\d_]{2,}", date.text)]
    return not any(each in (*names.months, *names.weekdays) for each in found) and any(
        each in _forms(short_code(language), of) for each in found for of in ("months", "weekdays")
    )


def month_name(month: int, language: str) -> str:
    """The name of a month, which is counted from 1."""
    return _names()[short_code(language)].months[month - 1]


def lost_dates(source: str, output: str, languages: Languages, *, are_strict: bool = False) -> list[Date]:
    """The dates of `source` that `output`, its translation, lacks. A date in the output counts for one date of the source only.

    The output may write a date in digits, a day up to 12 as a word, and the weekday at another place. Ranges of months without a year, with
    words between both names, are not checked, and of such ranges of weekdays only whether both names are there. With `are_strict`, those
    of months are, and dates are returned, too, that are there but lack their weekday, have a dash between two names, or stand after a word
    that does not fit.
    """
    if not knows_dates(languages) or not _may_have_dates(source):
        return []
    there, lost = list(find_dates(output, languages[1])), list[Date]()
    for date in find_dates(source, languages[0]):
        if date.kind == "weekdays" and not _DASH.fullmatch(date.separator):
            lost += [date] * (not all(_has_weekday(output, each, languages[1]) for each in (date.first[2], date.weekday)))
            continue
        if not (date.day or date.year or _DASH.fullmatch(date.separator) or (are_strict and date.kind == "months")):
            continue
        same = next((each for each in there if each.value == date.value), None)
        wanted = (date.first[2], date.weekday) if date.kind == "day" else (0, 0)
        if same is not None:
            there.remove(same)
        is_there = same is not None or _has_word(date, output, languages[1]) or _has_digits(date, output)
        is_there = is_there and all(_has_weekday(output, each, languages[1]) for each in wanted if each)
        if not is_there or (are_strict and same is not None and _is_odd(date, same, source, output, languages)):
            lost.append(date)
    return lost


def _is_odd(date: Date, found: Date, source: str, output: str, languages: Languages) -> bool:
    """Whether what was `found` for a date of a source lacks its weekdays, or is written or placed as it should not be."""
    source_words, words = (DATE_WORDS[short_code(language)] for language in languages)
    if found.kind == "weekdays":
        return _DASH.fullmatch(found.separator) is not None
    there, before = (text[max(each.start - _LONGEST_BEFORE, 0) : each.start] for text, each in ((source, date), (output, found)))
    if found.kind == "months":
        return _DASH.fullmatch(found.separator) is not None or words.not_before_range.search(before) is not None
    if before.rstrip().rpartition(" ")[2].removesuffix("s") in _names()[short_code(languages[1])].months:
        return True
    for own, other in source_words.before_both.items():
        if re.search(own, there, re.IGNORECASE):
            return re.search(rf"\b(?:{other})\b", before, re.IGNORECASE) is None
    if found.kind == "month":
        return words.not_before_month.search(before) is not None
    wrong = (words.not_before_day, *[words.not_before_range] * found.is_range) if found.kind == "day" else ()
    weekdays = (date.first[2], date.weekday) if date.kind == "day" else (0, 0)
    return any(each.search(before) for each in wrong) or (any(weekdays) and (found.first[2], found.weekday) != weekdays)


def with_dates(source: str, output: str, languages: Languages) -> str:
    """Return `output`, the translation of `source`, in which the dates that it lacks are written anew where it has their parts in another
    order or form, as in "2028. Juni" and "March 4., 2029". A comma is after a weekday before a day; English weekdays have capitals.
    """
    for date in lost_dates(source, output, languages):
        runs = (run for run in _runs(output, short_code(languages[1])) if run.values == _parts_of(date))
        run = next(runs, None)
        if run is not None:
            whole = replace(date, weekday=0, first=(*date.first[:2], 0)) if date.kind == "day" else date
            shown = written_date(whole, languages[1], is_short=run.is_short)
            output = apply_edits(output, [Edit(run.start, run.end, output[run.start : run.end], shown)])
    if not knows_dates(languages) or not _may_have_dates(output):
        return output
    code = short_code(languages[1])
    if DATE_WORDS[code].capitals:
        output = _small_weekday(code).sub(lambda found: found.group().capitalize(), output)
    return _weekday_without_comma(code).sub(r"\1, ", output) if _names()[code].weekday.startswith("EEEE,") else output


@cache
def _small_weekday(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w@/.-])(?:{'|'.join(map(str.lower, _names()[code].weekdays))})s?\b")


@cache
def _weekday_without_comma(code: str) -> re.Pattern[str]:
    """A weekday directly before a day, where a comma belongs between both (CLDR)."""
    names = _names()[code]
    day = names.day.replace(".", r"\.").replace("d", r"\d{1,2}").replace("MMMM", f"(?:{'|'.join(names.months)})")
    return re.compile(rf"\b({'|'.join(names.weekdays)}) (?={day}\b)")


def spelled_dates(text: str, language: str) -> str:
    """Return `text` with the short names of months in dates written in full, with decades without apostrophes, and with a month and its
    year after an English noun: "Jan. 5" becomes "January 5", "the May 2027 report" "the report of May 2027". Models know these words
    better.
    """
    code, edits = short_code(language), list[Edit]()
    if code in DATE_WORDS and DATE_WORDS[code].month_nouns and _may_have_dates(text):
        text = _before_noun(code).sub(_after_noun, text)
    text = with_long_weekdays(text, code)
    for date in find_dates(text, language) if _may_have_dates(text) else ():
        if date.kind == "decade":
            shown = re.sub("['\u2019]", "", date.text)
        elif date.kind in ("day", "month"):
            shown = _month_pattern(code).sub(lambda found: month_name(_forms(code, "months")[found[0].rstrip(".")], code), date.text)
        else:
            continue
        if shown != date.text:
            edits.append(Edit(date.start, date.end, date.text, shown))
    return apply_edits(text, edits)


def with_long_weekdays(text: str, code: str) -> str:
    """Return `text` with the names of weekdays in full where they are short in a list ("Sat & Sun", "Mo., Mi. und Fr.", "Mo. bis Fr."), or
    before a time ("Sa. 10 Uhr").
    """
    if code not in _names() or text.isupper():
        return text
    name, names, (short, long) = _weekday(code), _forms(code, "weekdays"), DATE_WORDS[code].short_and

    def in_full(match: re.Match[str]) -> str:
        shown = match.group().replace("/", ", ").replace(f" {short} ", f" {long} ")
        shown += " " * (match.end() < len(text))
        return name.sub(lambda each: _names()[code].weekdays[names[each.group().rstrip(".")] - 1], shown).removesuffix(" ")

    return _listed_weekdays(code).sub(in_full, text)


@cache
def _weekday(code: str) -> re.Pattern[str]:
    """A pattern of a weekday, with the full stop of a short name, which may also end the text."""
    names = _names()[code]
    short = sorted(set(_forms(code, "weekdays")).difference(names.weekdays), key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:(?:{'|'.join(names.weekdays)})(?![\w-])|(?:{'|'.join(short)})(?![\w-])(?:\.(?!$))?)")


@cache
def _listed_weekdays(code: str) -> re.Pattern[str]:
    """A pattern of weekdays with commas or words between them, and of one before a time."""
    words, name = DATE_WORDS[code], _weekday(code).pattern
    also = rf"(?:,? ?\b(?:{words.to}|{words.also}|{re.escape(words.short_and[0]) or '(?!)'}) | ?[+&/] ?|, ?)"
    return re.compile(
        rf"{name}(?:{also}{name})+|{name}(?=,? (?:ab |um |from |at )?\d{{1,2}}(?:[:.]\d\d)?(?:\s?(?:[-\u2013]|[AaPp]\.?[Mm]|Uhr|bis\b)))"
    )


@cache
def _before_noun(code: str) -> re.Pattern[str]:
    """A pattern of a month with its year between an article or the like, in English, and a noun."""
    own = DATE_WORDS[code]
    nouns = rf"(?:(?:{'|'.join(own.month_adjectives)}) )?(?:{'|'.join(own.month_nouns)})"
    words = r"the|a|an|this|that|our|your|their|his|her|its|my"
    month = f"(?P<month>{_with_stop(code, 'months', _names()[code].months)}) {_YEAR}"
    return re.compile(rf"\b(?P<article>(?i:{words})) {month} (?P<noun>{nouns})\b(?!-)")


def _after_noun(match: re.Match[str]) -> str:
    article, noun = match["article"], match["noun"]
    if article.lower() in ("a", "an"):
        article = article[0] + "n" * (noun[0] in "aeiou")
    return f"{article} {noun} of {match['month']} {match['year']}"


def _may_have_dates(text: str) -> bool:
    return _IN_DATES.search(text) is not None


@cache
def _names() -> dict[str, _Names]:
    text = Path(__file__).with_name("dates.json").read_text(encoding="utf-8")
    return {code: _Names(**values) for code, values in json.loads(text).items()}


@cache
def _has_names(code: str) -> re.Pattern[str]:
    """What each date has in it: a month, a weekday or a decade. This is searched for first, since it is much faster than all patterns."""
    names = sorted({*_forms(code, "months"), *_forms(code, "weekdays")}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)|\d0['\u2019]?{DATE_WORDS[code].decade}", re.IGNORECASE)


@cache
def _forms(code: str, of: Literal["months", "weekdays"]) -> dict[str, int]:
    """The numbers of the months or weekdays by their names: full, short and of three letters, without full stops."""
    full, short = (getattr(_names()[code], name) for name in (of, f"short_{of}"))
    numbers, first = dict[str, int](), [name[:3].rstrip(".") for name in full]
    for names in (full, short):
        for number, name in enumerate(names, 1):
            numbers |= {name.rstrip("."): number}
            numbers |= {name[:3].rstrip("."): number} if first.count(name[:3].rstrip(".")) < 2 else {}
    return numbers | dict(getattr(DATE_WORDS[code], f"also_{of}"))


@cache
def _month_pattern(code: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_with_stop(code, 'months', _names()[code].months)})")


@cache
def _patterns(code: str, any_case: bool) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    """The patterns of dates of a language, those of longer forms first."""
    words, names = DATE_WORDS[code], _names()[code]
    months, weekdays = _with_stop(code, "months", names.months), _with_stop(code, "weekdays", names.weekdays)

    def day(place: int) -> str:
        return f"{words.before_day}{_DAY.format(place)}{words.after_day}"

    def month(place: int) -> str:
        return f"(?P<month{place}>{months})"

    def weekday(place: int) -> str:
        return f"(?:(?P<weekday{place}>{weekdays}){words.after_weekday})?"

    def day_first(place: int) -> str:
        return f"{weekday(place)}{day(place)}{words.before_month}{month(place)}"

    def month_first(place: int) -> str:
        return f"{weekday(place)}{month(place)} {day(place)}"

    year = f"(?:{words.before_year}{_YEAR})?"
    between = rf"(?P<separator>{_DASH.pattern}|,? ?\b(?:{words.to}) )"
    also = rf"(?P<separator>,? ?\b(?:{words.also}) )"
    days = [f"{weekday(1)}{day(1)}(?:{words.before_month}{month(1)})?{between}{day_first(2)}{year}"]
    days += [f"{weekday(1)}{day(1)}{also}{day_first(2)}{year}", f"{day_first(2)}{year}"]
    if names.day.startswith("MMMM"):
        no_month = f"(?! (?:of )?(?:{months}))"
        days.insert(1, f"{month_first(1)}{between}(?:{month_first(2)}|{day(3)}){year}")
        days.insert(2, f"{month_first(1)}{also}{day(3)}{no_month}{year}")
        days.append(f"{month_first(2)}{year}")
    patterns: list[tuple[Kind, str]] = [("day", each) for each in days]
    patterns += [
        ("decade", rf"{_NO_AGE}{_DECADE}['\u2019]?{words.decade}(?![^\W\d_])"),
        ("weekdays", f"(?P<weekday1>{weekdays}){between}(?P<weekday2>{weekdays})"),
        ("months", f"{month(1)}{between}{month(2)}{year}"),
        ("month", f"{month(2)}{words.before_year}{_YEAR}"),
    ]
    return tuple((kind, re.compile(_BEGIN + pattern, re.IGNORECASE if any_case else 0)) for kind, pattern in patterns)


def _with_stop(code: str, of: Literal["months", "weekdays"], full: Sequence[str]) -> str:
    """A pattern of the names of months or weekdays; short ones may have a full stop."""
    return rf"(?:{'|'.join(full)})(?!\w)|(?:{'|'.join(sorted(_forms(code, of), key=len, reverse=True))})(?!\w)\.?"


def _date(match: re.Match[str], kind: Kind, code: str) -> Date:
    """The date that a pattern found."""
    groups = {name: text for name, text in match.groupdict().items() if text}

    def number(of: Literal["months", "weekdays"], group: str) -> int:
        names = {name.lower(): number for name, number in _forms(code, of).items()}
        return names.get(groups.get(group, "").rstrip(".").lower(), 0)

    first = int(groups.get("day1", 0)), number("months", "month1"), number("weekdays", "weekday1")
    month, separator = number("months", "month2"), groups.get("separator", "")
    if separator and kind == "day":
        month, first = month or first[1], (first[0], first[1] or month, first[2])
    end = match.end() - (match.group().endswith(".") and not match.string[match.end() :].strip())
    return Date(
        match.start(),
        end,
        match.string[match.start() : end],
        kind,
        day=int(groups.get("day2", groups.get("day3", 0))),
        month=month,
        year=int(groups.get("year", 0)),
        weekday=number("weekdays", "weekday2"),
        first=first,
        separator=joint(separator),
        between=separator,
    )


def joint(word: str, language: str = "") -> str:
    """What is between the ends of a range, or the dates of a list, as a language writes it: a dash, or with spaces, the English "to", "and"
    or "or". Without a language, `word` is of any, and becomes the English word or the dash.
    """
    code, word = short_code(language), word if _DASH.fullmatch(word) else re.sub(r" de[mn]$", "", word.strip(" ,"))
    if not word or _DASH.fullmatch(word):
        return word
    if code:
        return f" {DATE_WORDS[code].separators[word]} "
    english = {own: name for words in DATE_WORDS.values() for name, own in words.separators.items()}
    return english.get(word, "to")


def _is_day(match: re.Match[str], date: Date, words: DateWords) -> bool:
    """Whether a number beside the name of a month is a day, and does not count something."""
    number = date.text.rpartition(" ")[2]
    if date.year or not number.isdecimal():
        return True
    before = words.before_amount.search(match.string, max(date.start - 3, 0), date.start)
    return not before and not words.after_amount.match(match.string, date.end)


def _has_word(date: Date, output: str, language: str) -> bool:
    """Whether an output has the month of a date, and a word for its day."""
    if date.kind != "day" or date.is_range or date.year or not date.day:
        return False
    words, days = _words(output)
    return month_name(date.month, language) in words and f"{date.day}" in days


@lru_cache(16)
def _words(text: str) -> tuple[frozenset[str], frozenset[str | None]]:
    """The words of a text, and the numbers that its ordinal words stand for, which all dates of the text look up."""
    words = frozenset(re.findall(r"\w+", text))
    return words, frozenset(NUMBER_WORDS.get(each.lower()) for each in words if _ORDINAL_WORD.search(each))


def _has_digits(date: Date, output: str) -> bool:
    """Whether an output has a date in digits."""
    day, month = date.day, date.month
    if date.kind != "day" or date.is_range or (date.year and f"{date.year}" not in output):
        return False
    forms = rf"0?{day}\.\s?0?{month}\.|0?{month}/0?{day}(?!\d)|0?{day}/0?{month}(?!\d)|\d{{4}}-{month:02}-{day:02}"
    return re.search(rf"(?<![\d.]){forms}", output) is not None


def _has_weekday(output: str, weekday: int, language: str) -> bool:
    code = short_code(language)
    names = [name for name, number in _forms(code, "weekdays").items() if number == weekday]
    return re.search(rf"\b(?:{'|'.join(names)})", output, re.IGNORECASE) is not None


class _Run(NamedTuple):
    """Numbers and names that stand together in an output, from `start` to `end`, and what they say."""

    start: int
    end: int
    values: frozenset[tuple[str, int]]
    is_short: bool


def _parts_of(date: Date) -> frozenset[tuple[str, int]]:
    """The numbers, months and weekdays of a date."""
    day, month, weekday = date.first
    numbers = {("number", each) for each in (date.day, day, date.year) if each}
    months = {("month", each) for each in (date.month, month) if each}
    weekdays = {("weekday", each) for each in (date.weekday, weekday) if each and date.kind == "weekdays"}
    return frozenset(numbers | months | weekdays)


def _runs(text: str, code: str) -> list[_Run]:
    """The runs of numbers and names of months and weekdays in a text, longest first."""
    names, own = _names_in_runs(code), _names()[code]
    tokens = list[tuple[re.Match[str], tuple[str, int]]]()
    for match in _TOKEN.finditer(hidden(text, protected_spans(text))):
        value = ("number", int(match["number"])) if match["number"] else names.get(match.group())
        if value is not None:
            tokens.append((match, value))
    runs = []
    for index, (first, _) in enumerate(tokens):
        for end in range(index, min(index + _LONGEST_RUN, len(tokens))):
            last = tokens[end][0]
            if end > index and not _BETWEEN_TOKENS.fullmatch(text, tokens[end - 1][0].end(), last.start()):
                break
            group = tokens[index : end + 1]
            stop = _STOP_INSIDE.match(text, last.end())
            is_short = not any(token["number"] or token.group() in (*own.months, *own.weekdays) for token, _ in group)
            runs.append(_Run(first.start(), stop.end() if stop else last.end(), frozenset(value for _, value in group), is_short))
    return sorted(runs, key=lambda run: run.start - run.end)


@cache
def _names_in_runs(code: str) -> dict[str, tuple[str, int]]:
    """What the names of months and weekdays say; those of other languages, which a model may copy, count if the language has none such."""
    kinds = dict[str, tuple[str, int]]()
    for each in (*(other for other in _names() if other != code), code):
        kinds |= {name: ("weekday", number) for name, number in _forms(each, "weekdays").items()}
        kinds |= {name: ("month", number) for name, number in _forms(each, "months").items()}
    return kinds
