"""Words and signs beside numbers: powers of ten, currencies, halves of the day, numbers in words, of all languages that are known."""

import re
from typing import NamedTuple

from specdec_cli.text.locale.languages import CODES as LANGUAGES
from specdec_cli.text.locale.languages import known, known_pairs

CURRENCIES = "$\u20ac\u00a3\u00a5\u20b9"
"""Currency signs, which stand before or after an amount."""
CURRENCY_CODES = {"$": "USD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY", "\u20b9": "INR"}
CODES = f"(?:{'|'.join([*CURRENCY_CODES.values(), 'CHF'])})"
"""A pattern for codes of currencies that stand before or after amounts."""

BESIDE_NUMBERS = {
    code: [(re.compile(pattern), phrase) for pattern, phrase in known(code)["beside-numbers"]]
    for code in LANGUAGES
    if "beside-numbers" in known(code)
}
"""What models read badly beside numbers, and what they read better in its place."""
ABBREVIATIONS = {code: known_pairs(known(code)["written-out"]) for code in LANGUAGES if "written-out" in known(code)}
"""Abbreviations, which may have no spaces inside, and the words that models read better in their place."""
REFERENCES = tuple(known_pairs(known("de")["references"]).items())
"""English and German abbreviations, and words that models leave as they are, before the numbers of parts of a text. Several of one language
may stand for one of the other.
"""


class Scale(NamedTuple):
    """A power of ten in a language: the word after one and after other amounts, and all forms that are read as it."""

    power: int
    one: str
    many: str
    forms: str

    def word(self, number: str) -> str:
        """The word after a number."""
        return self.one if number == "1" else self.many


SCALES = {code: tuple(Scale(*each) for each in known(code)["scales"]) for code in reversed(LANGUAGES) if "scales" in known(code)}
_OTHER_SCALES = r"(?:mil|bil|tril)\w+|hundert|hundred|[bk]\b|mld\b\.?"
"""Words for powers of ten in other languages, and those after which an amount is written in the same way in English and German."""
MULTIPLIER = re.compile(
    rf"\s?(?:{'|'.join([*(scale.forms for scales in SCALES.values() for scale in scales), _OTHER_SCALES])})(?!\w)", re.IGNORECASE
)
"""A word for a power of ten, which may stand between an amount and the sign of its currency: 3 Millionen $."""

LATER_WORDS = "afternoons?|evenings?|nights?|tonight|dinner|supper|nachmittags?|abends?|nachts?"
"""What says in an English or German text when on the day its times are, beside a.m. and p.m."""
NOON_WORDS = re.compile(r"\b(?:mittags?|mitternacht|noon|midnight|midi|minuit|mediod\u00eda|medianoche)\b", re.IGNORECASE)
AMOUNT_WORDS = re.compile(
    rf"[{CURRENCIES}%]|\b(?:prices?|priced|shares?|stocks?|rates?|rated|sales|sold|trad(?:e[ds]?|ing)|costs?|valued?|exchange|index|scores?"
    r"|averages?|percent|dollars?|euros?|pounds?|cents?|version|sections?|chapters?)\b",
    re.IGNORECASE,
)
"""Signs and words of an English text about prices, rates and the like, in which "at 12.50" is an amount, not a time.

Form does not tell them apart: "The shop closed at 12.50 on Monday." and "The share closed at 12.50 on Monday." Neither do translations:
models write "um 12,50 Uhr" for both.
"""


def _number_words() -> dict[str, str]:
    """The digits of words for numbers: up to 12 in several languages, up to 99 in English and German."""
    found = {
        word: f"{value}" for code in LANGUAGES for value, words in enumerate(known(code).get("numerals", ())) for word in words.split()
    }
    units, teens, tens = (zip(*(known(code)[key].split() for code in ("en", "de")), strict=True) for key in ("units", "teens", "tens"))
    for number, names in enumerate(teens, 13):
        found |= dict.fromkeys(names, f"{number}")
    small = list(units)
    for ten, (english, german) in enumerate(tens, 2):
        found |= dict.fromkeys((english, german), f"{ten}0")
        for unit, (own, german_unit) in enumerate(small, 1):
            found |= dict.fromkeys((f"{english}-{own}", f"{german_unit}und{german}"), f"{ten}{unit}")
    return found


NUMBER_WORDS = _number_words()
"""The digits of each word for a number from 0 to 12, in English and German to 99."""


def half_of_day(suffix: str = "") -> str:
    """A pattern of a.m. and p.m., with the groups "half" (a or p) and "stop" (the full stop after it), each with this suffix."""
    return rf"(?P<half{suffix}>[ap])(?P<stop{suffix}>\.?)\s?m"


def currency_names(sign: str, language: str) -> str:
    """A regular expression that matches the names of the currency with this sign in a language; "" if they are not known."""
    return str(known(language).get("currencies", {}).get(sign, ""))


def any_currency_name(sign: str) -> str:
    """A regular expression that matches the names, in all known languages, of the currency with this sign."""
    return "|".join(dict.fromkeys(name for code in LANGUAGES if (name := currency_names(sign, code))))
