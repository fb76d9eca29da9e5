"""What a model reads in the place of units of the kitchen, lengths of time, couples and musical keys, whose translations it does not know.

An amount is read as grams, a couple as two names, a key as a town; what stands for it in the output is written anew.
"""

import re
from collections.abc import Iterator
from functools import partial

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.quantities import Languages, hidden
from specdec_cli.text.protect.spans import protected_spans
from specdec_cli.text.protect.stand_ins import ReadText, StandIn, read_with

_FRACTION = "[\u00bc-\u00be\u2150-\u215e]"
_AMOUNT = (
    rf"(?<![\w.,/])(?P<amount>(?:\d{{1,3}} )?\d/\d{{1,2}}|(?:\d{{1,3}} ?)?{_FRACTION}"
    r"|\d{1,4}(?:[.,]\d{1,2})?(?:\s?[-\u2013]\s?\d{1,3})?)"
)
_UNITS = {
    "en": (
        (r"tbsps?\b\.?|tablespoons?\b", "EL"),
        (r"tsps?\b\.?|teaspoons?\b", "TL"),
        (r"fl\.? ?oz\b\.?", "fl oz"),
        (r"oz\b\.?|ounces?\b", "oz"),
        (r"lbs?\b\.?", "lb"),
        (r"cents?\b", "Cent"),
    ),
    "de": (
        (r"EL\b|Essl\u00f6ffeln?\b", "tbsp"),
        (r"TL\b|Teel\u00f6ffeln?\b", "tsp"),
        (r"Prisen?\b|Msp\b\.?|Messerspitzen?\b", "pinch of"),
        (r"P(?:c?k|\u00e4?ck|k)[gt]?\b\.?|P\u00e4ckchen\b", "packet of"),
        (r"Bd\.|Bund\b", "bunch of"),
    ),
}
"""Patterns of units, and how the other language writes them."""
_AT_MOST_ONE = frozenset(("1", "\u00bd", "1/2", "\u00bc", "\u00be", "1/4", "3/4"))
_GRAMS = r"(?:[gG]|Gramm|grams?)(?!\w)(?: of\b)?"
_SIGNS = r"(?P<sharp>#|\u266f|[ -]sharp)|(?P<flat>b|\u266d|[ -]flat)"
_KEYS = {
    "en": re.compile(rf"(?<=\bin )(?P<note>[A-G])(?:{_SIGNS})?[ -](?P<mode>major|minor)\b"),
    "de": re.compile(r"(?<=\bin )(?P<note>[A-Ha-h])(?:(?P<sharp>is)|(?P<flat>e?s))?-(?P<mode>Dur|[Mm]oll)\b"),
}
_QUOTE = re.compile(r"(?<!\d)\"")
_YEAR = r"(?<![\w.,/-])(?P<year>[1-9]\d{0,3})"
_ERAS = {
    "en": re.compile(
        rf"{_YEAR} ?(?:(?P<before>BCE?|B\.C\.(?:E\.)?)|AD|CE|A\.D\.)(?!\w)|(?<!\w)AD {_YEAR.replace('year', 'year2')}(?![\w.,]\d)"
    ),
    "de": re.compile(rf"{_YEAR} (?:(?P<before>v)|n)\. ?Chr\."),
}
"""Years of an era."""
_FEET = re.compile(r"(?<![\w.,'\"])(?P<feet>\d{1,2})['\u2019](?P<inches>\d{1,2})\"")
_LENGTH = re.compile(r"(?<![\w:.,])(?P<first>\d{1,3}):(?P<last>\d\d)(?=[ -]?(?:[Mm]in\b|minutes?\b|Minuten?\b|Std\b|Stunden?\b|hours?\b))")
"""Minutes and seconds, or hours and minutes, that are no time of the day: 3:45 min."""
_NAME = r"[A-Z\u00c4\u00d6\u00dc][\w'\u2019-]*"
_COUPLES = {
    "en": re.compile(rf"\bMr\.? (?:and|&) Mrs\.? (?P<name>{_NAME}(?: {_NAME})?)"),
    "de": re.compile(rf"\bHerrn? (?:und|&|u\.) Frau (?P<name>{_NAME})"),
}
_FIRST, _LAST, _TOWN = "Anna", "Tom", "Berlin"
_BEFORE_SUBJECT = re.compile(
    r"(?:^|[.!?:;\u201e\"]\s?|\b(?:dass|weil|ob|wenn|als|wo|wie|sind|haben|werden|waren|hatten|leben|wohnen|kommen|kamen) )$", re.IGNORECASE
)
"""What is before a subject in German; elsewhere a couple is an object."""
_HINT = re.compile(
    rf"[\d{_FRACTION[1:-1]}]\s?(?:[a-zA-Z]{{0,2}}sp|oz|ounce|fl|lb|table|tea|EL|TL|Ess|Tee|Pr|Msp|Mess|P|Bd|Bund|Zeh)|:\d\d[ -]?[hmMS]"
    r"|\d ?(?:B\.?C|A\.?D|CE\b|[vn]\. ?Chr)|\bAD \d|\d['\u2019]\d|\bMr\b|\bHerrn? (?:u|&)|\b(?:major|minor)|-(?:Dur|[Mm]oll)"
)
"""A part of each text that has one of these."""


def read_text(text: str, languages: Languages) -> ReadText | None:
    """The text as a model reads it; None if that is the text itself, and for other languages than English and German."""
    code = short_code(languages[0])
    if {code, short_code(languages[1])} != {"en", "de"} or not _HINT.search(text):
        return None
    shown = hidden(text, protected_spans(text))
    found = sorted(
        [*_units(shown, code), *_measures(text), *_eras(shown, code), *_lengths(shown), *_keys(shown, code), *_couples(shown, code)]
    )
    rest = hidden(text, [(each.start, each.end) for each in found])
    if not found or any(re.search(each.pattern, rest) for each in found):
        return None
    return read_with(text, found)


def _units(text: str, code: str) -> Iterator[StandIn]:
    for unit, other in _UNITS[code]:
        for found in re.finditer(rf"{_AMOUNT}\s?(?:{unit})(?: of\b)?", text):
            amount = re.sub(r"[.,]", "[.,]", re.sub(r"\s", r"\\s?", found["amount"]))
            name, of, _ = other.partition(" of")
            plural = ("es" if name.endswith("h") else "s") * (of != "" and found["amount"] not in _AT_MOST_ONE)
            written = rf"\g<amount> {name}{plural}{of}"
            yield StandIn(*found.span(), f"{found['amount']} g", rf"(?<![\w.,/])(?<!\d )(?P<amount>{amount})\s?{_GRAMS}", written)


def _measures(text: str) -> Iterator[StandIn]:
    """Feet and inches in a text that has quotation marks, read as centimetres."""
    found = list(_FEET.finditer(text))
    if not found or not _QUOTE.search(_FEET.sub("", text)):
        return
    for each in found:
        number = 100 * int(each["feet"]) + int(each["inches"])
        yield StandIn(*each.span(), f"{number} cm", rf"(?<![\d.,]){number} ?(?:cm|Zentimetern?|centimet\w+)\b", each.group())


def _eras(text: str, code: str) -> Iterator[StandIn]:
    """Years of an era, read as years from 1000 on."""
    for found in _ERAS[code].finditer(text):
        year = found["year"] or found["year2"]
        shown = f"{int(year) + 1000 * (int(year) < 1000)}"
        era = ("v. Chr." if found["before"] else "n. Chr.") if code == "en" else ("BC" if found["before"] else "AD")
        stop = "." * (found.group().endswith(".") and found.end() == len(text))
        end = r"(?:\.$)?" * era.endswith(".")  # the stop of the abbreviation is that of the sentence, too
        yield StandIn(*found.span(), shown + stop, rf"(?<![\d.,]){shown}(?!\d|[.,]\d){end}", f"{year} {era}")


def _lengths(text: str) -> Iterator[StandIn]:
    for found in _LENGTH.finditer(text):
        pattern = rf"(?<![\d.,]){found['first']}[.,]{found['last']}(?!\d)"
        yield StandIn(*found.span(), found.group().replace(":", "."), pattern, found.group())


def _keys(text: str, code: str) -> Iterator[StandIn]:
    for found in _KEYS[code].finditer(text):
        yield StandIn(*found.span(), _TOWN, rf"\b{_TOWN}\b", _key_in_german(found) if code == "en" else _key_in_english(found))


def _key_in_german(found: re.Match[str]) -> str:
    note, flat = found["note"], found["flat"]
    name = f"{note}is" if found["sharp"] else note + ("s" if note in "AE" else "es") * bool(flat)
    name = {"B": "H", "Bes": "B"}.get(name, name)
    return f"{name}-Dur" if found["mode"] == "major" else f"{name.lower()}-Moll"


def _key_in_english(found: re.Match[str]) -> str:
    note = found["note"].upper()
    name = {"H": "B", "B": "B-flat"}.get(note, note) + "-sharp" * bool(found["sharp"]) + "-flat" * bool(found["flat"])
    return f"{name} {'major' if found['mode'] == 'Dur' else 'minor'}"


def _couples(text: str, code: str) -> Iterator[StandIn]:
    names = (f"{_FIRST} and {_LAST}", f"{_FIRST} und {_LAST}")
    for found in _COUPLES[code].finditer(text):
        name = found["name"].replace("\\", "")
        if code == "de":
            yield StandIn(*found.span(), names[1], rf"\b{names[0]}\b", f"Mr. and Mrs. {name}")
        else:
            yield StandIn(*found.span(), names[0], rf"\b{names[1]}\b", partial(_couple_in_german, name=name))


def _couple_in_german(found: re.Match[str], name: str) -> str:
    return f"Herr{'' if _BEFORE_SUBJECT.search(found.string[: found.start()]) else 'n'} und Frau {name}"
