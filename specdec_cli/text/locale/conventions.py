"""How languages write numbers, prices and times, and words whose full stop does not end a sentence."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.languages import known_words
from specdec_cli.text.locale.words import ABBREVIATIONS

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

    True for known abbreviations, for initials and abbreviations of single letters (J., U.S., z.B.), for ordinals (3., XIV.),
    and before a number, a reference such as B-12 or a single letter for words such as No. or Fig. False for ellipses and for words
    without a full stop.
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
