"""Texts that are nothing but quantities or a date: how another language writes them."""

import re

from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.conventions import CODES, CURRENCIES, convention
from specdec_cli.text.locale.date_readings import with_months_in_digits, with_named_months
from specdec_cli.text.locale.dates import find_dates, has_short_names, knows_dates, written_date
from specdec_cli.text.locale.quantities import (
    NO_TEXT,
    PERCENT,
    SYMBOL,
    Languages,
    as_written,
    find_quantities,
    has_digits,
    hidden,
    with_percent,
    without_dash_cents,
    written,
)
from specdec_cli.text.locale.ranges import find_ranges, written_range
from specdec_cli.text.marks import THIN_SPACES
from specdec_cli.text.protect.spans import once

_ITEM = rf"[-\u2212]?(?:{CODES}|[{CURRENCIES}])?\s?#\s?(?:[{CURRENCIES}%]|{SYMBOL}|{CODES})?"
_ALONE = re.compile(rf"\s*{_ITEM}(?:\s?[-\u2013\u2014\u00d7x]\s?{_ITEM})*\s*")
"""One or more amounts (#) with their signs or units, and nothing else."""
_BETWEEN_DATES = re.compile(r"[\s/,;.\u2013-]*")
_LONGEST_ALONE = 60
_NUMBER = re.compile(rf"\d(?:[\d.,:'\u2019 {THIN_SPACES}]*\d)?")


@once
def written_alone(text: str, languages: Languages) -> str | None:
    """A text that is nothing but one price, time, percentage or number, which may have a unit, or a range of these, or dates, as the
    second of the `languages` writes it; None for other texts.
    """
    text = without_dash_cents(text, languages[0]) if languages[0] != languages[1] else text
    own, stripped = convention(languages[1]), text.strip()
    named = with_named_months(stripped, languages[0]) if knows_dates(languages) and len(text) <= _LONGEST_ALONE else stripped
    dates = find_dates(named, languages[0]) if named != stripped else ()
    if dates and _BETWEEN_DATES.fullmatch(hidden(named, [(each.start, each.end) for each in dates]).replace(NO_TEXT, "")):
        edits = [Edit(each.start, each.end, each.text, written_date(each, languages[1])) for each in dates]
        return text.replace(stripped, with_months_in_digits(stripped, apply_edits(named, edits), languages))
    for date in find_dates(stripped, languages[0]) if knows_dates(languages) and len(text) <= _LONGEST_ALONE else ():
        if date.text == stripped:
            shown = written_date(date, languages[1], is_short=has_short_names(date, languages[0]))
            return text.replace(stripped, shown)
    for amounts in find_ranges(stripped, languages[0]) if own is not None and languages[0] != languages[1] and has_digits(text) else ():
        if amounts.text == stripped and amounts.dash and not amounts.is_scaled and stripped.count(amounts.sign) == 1:
            return text.replace(stripped, written_range(amounts, languages[1]))
    if languages[0] == languages[1] or own is None or len(text) > _LONGEST_ALONE or not has_digits(text):
        return None
    found, edits = find_quantities(text, languages[0]), []
    is_range, are_times = len(found) > 1, [each.kind == "time" for each in found]
    marks = hidden(text, [(each.start, each.end) for each in found]).replace(NO_TEXT, "#")
    if not found or any(each.kind == "label" for each in found) or any(are_times) != all(are_times):
        return None
    if not _ALONE.fullmatch(re.sub("#+", "#", marks)) or (is_range and 0 < sum(bool(each.sign) for each in found) < len(found)):
        return None
    for quantity in found:
        percent = PERCENT.match(text, quantity.end)
        if percent:
            edits.append(Edit(quantity.start, percent.end(), "", with_percent(written(quantity, languages[1]), own)))
        else:
            edits.append(as_written(text, quantity, (0, len(text)), languages[1]))
    if all(are_times):
        edits[:-1] = [each._replace(text=each.text.removesuffix(" Uhr")) for each in edits[:-1]]
    return apply_edits(text, edits)


def may_be_alone(text: str) -> bool:
    """Whether a text of any language that has no letters may be one that another language writes differently (see `written_alone`)."""
    text = text.strip()
    return len(text) <= _LONGEST_ALONE and not text.isdecimal() and _ALONE.fullmatch(_NUMBER.sub("#", text)) is not None
