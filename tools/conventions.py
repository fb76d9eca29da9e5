"""The conventions of languages for numbers, prices and times, from the CLDR by Babel: `make locale` writes them."""

import json
from pathlib import Path

from babel import Locale
from babel.localedata import locale_identifiers

import specdec_cli.text.locale

FILE = Path(specdec_cli.text.locale.__file__).with_name("conventions.json")
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


def written() -> str:
    """The text of the file: a line for each language."""
    lines = (f"{json.dumps(code)}: {json.dumps(values)}" for code, values in conventions().items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
