"""The conventions of languages for numbers, prices, times and dates, from the CLDR by Babel: `make locale` writes them."""

import json
from pathlib import Path
from typing import Any

from babel import Locale
from babel.localedata import locale_identifiers

import specdec_cli.text.locale

FILE = Path(specdec_cli.text.locale.__file__).with_name("conventions.json")
DATES = FILE.with_name("dates.json")
DATED = ("de", "en")
"""The languages whose dates are read and written (see `dates.py`)."""
_SIGN, _GROUPS = "\u00a4", (3, 3)


def conventions() -> dict[str, dict[str, str | int]]:
    """The conventions of each language that is written in groups of three digits and with the digits 0 to 9, by its code.

    `group` is before thousands and `decimal` before decimals; `price` has # for the amount and \u00a4 for the sign; `clock` has 12 or 24
    hours, and `time` is between hours and minutes; `percent` has # for the number.
    """
    found = {}
    for code in sorted(code for code in locale_identifiers() if code.isalpha() and code != "root"):
        locale = Locale.parse(code)
        symbols = locale.number_symbols.get("latn", {})
        if locale.default_numbering_system != "latn" or locale.decimal_formats[None].grouping != _GROUPS:
            continue
        currency = locale.currency_formats["standard"]
        prefix, suffix = (affix[0].strip("\u200e\u200f") for affix in (currency.prefix, currency.suffix))
        percent = locale.percent_formats[None]
        time = locale.time_formats["short"].pattern
        found[code] = {
            "group": symbols["group"],
            "decimal": symbols["decimal"],
            "price": f"{prefix}#{suffix}",
            "percent": "#".join(affix[0].strip("\u200e\u200f") for affix in (percent.prefix, percent.suffix)),
            "clock": 12 if "h" in time or "K" in time else 24,
            "time": "." if "." in time.split("m")[0] else ":",
        }
    return found


def dates() -> dict[str, dict[str, str | list[str]]]:
    """The names of months and days of the week, from January and Monday on, and the patterns of dates of the languages in DATED."""
    found = {}
    for code in DATED:
        locale = Locale.parse(code)
        months, days, short = locale.months, locale.days, locale.days["stand-alone"]["abbreviated"]
        found[code] = {
            "months": [months["format"]["wide"][month] for month in range(1, 13)],
            "short_months": [months["format"]["abbreviated"][month] for month in range(1, 13)],
            "weekdays": [days["format"]["wide"][day] for day in range(7)],
            "short_weekdays": [short[day] for day in range(7)],
            "month": locale.datetime_skeletons["yMMMM"].pattern,
            "day": locale.datetime_skeletons["MMMMd"].pattern,
            "date": locale.date_formats["long"].pattern,
            "weekday": locale.datetime_skeletons["MMMMEd"].pattern.replace("E", "EEEE"),
            "full": locale.date_formats["full"].pattern,
        }
    return found


def written(values: dict[str, Any]) -> str:
    """The text of a file: a line for each language."""
    return "{\n" + ",\n".join(f"{json.dumps(code)}: {json.dumps(each)}" for code, each in values.items()) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(conventions()), encoding="utf-8")
    DATES.write_text(written(dates()), encoding="utf-8")
