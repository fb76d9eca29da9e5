"""How languages write numbers, prices and times, words beside numbers, and words whose full stop does not end a sentence."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.languages import CODES as LANGUAGES
from specdec_cli.text.locale.languages import known, known_pairs, known_words

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


_ANYWHERE = (
    frozenset[str]()
    .union(*known_words("abbreviations").values())
    .union(each.lower().removesuffix(".") for words in ABBREVIATIONS.values() for each in words if each.endswith("."))
)
_BEFORE_NUMBER = frozenset[str]().union(*known_words("before-numbers").values())
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_LETTERED = re.compile(r"[A-Z](?:[.,;:)]|$)|[A-Z]{1,4}-?\d")
_WEEKDAYS = re.compile(r"(?:(?:Mo|Di|Mi|Do|Fr|Sa|So)\.?[-\u2013])?(?:Mo|Di|Mi|Do|Fr|Sa|So)")
"""A day of the week in German, or a range of two."""
_STREET = "str"
"""The end of names of German streets, before numbers of houses: Hauptstr. 5."""
_ROMAN = re.compile(r"[IVX]+")


@dataclass(frozen=True, slots=True)
class Convention:
    """How a language writes numbers, prices and times (CLDR).

    `group` is the separator of thousands and `decimal` that of decimals. `price` has "#" for the amount and "\u00a4" for the sign of the
    currency; `percent` has "#" for the number. `clock` has 12 or 24 hours; `time` is between hours and minutes.
    """

    group: str
    decimal: str
    price: str
    percent: str
    clock: Literal[12, 24]
    time: str


@cache
def convention(language: str) -> Convention | None:
    """The convention of the language with this code; None if it is unknown, or has digits or groups of its own."""
    return _conventions().get(short_code(language))


@cache
def _conventions() -> dict[str, Convention]:
    text = Path(__file__).with_name("conventions.json").read_text(encoding="utf-8")
    return {code: Convention(**values) for code, values in json.loads(text).items()}


def is_abbreviation(word: str, following: str) -> bool:
    """Whether `word` ends with a full stop that does not end a sentence; `following` is the next word.

    True for known abbreviations, for initials and abbreviations of single letters (J., U.S., z.B.), for ordinals (3., XIV.), and before a
    number, a reference such as B-12 or a single letter for words such as No. or Fig. False for ellipses and for words without a full stop.
    """
    if not word.endswith(".") or word.endswith(".."):
        return False
    stem = re.split("[-\u2013]", word[:-1])[-1]
    if stem.isdigit():
        return len(stem) <= 2
    if _ROMAN.fullmatch(stem) or (_INITIALS.fullmatch(stem) and stem.upper() != stem.lower()):
        return True
    if _WEEKDAYS.fullmatch(word[:-1]):
        return following[:1].isdigit() or following[:1].islower()
    is_numbered = following[:1].isdigit() or _LETTERED.match(following) is not None
    return stem.lower() in _ANYWHERE or (is_numbered and (stem.lower() in _BEFORE_NUMBER or stem.endswith(_STREET)))
