"""Amounts with a word for a power of ten, as in "$2.5 billion" and "1,5 Mio. €": the word that a translation has after them."""

import re
from functools import cache
from typing import NamedTuple

from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.conventions import Convention, convention
from specdec_cli.text.locale.languages import short_code
from specdec_cli.text.locale.quantities import CURRENCIES, Languages, value_of


class _Scale(NamedTuple):
    """A power of ten in a language: the word after one and after other amounts, its abbreviation, and all forms that are read as it."""

    power: int
    one: str
    many: str
    short: str
    forms: str


_SCALES = {
    "en": (
        _Scale(3, "thousand", "thousand", "thousand", "thousands?"),
        _Scale(6, "million", "million", "million", r"millions?|mn\b|mln\b|m\b"),
        _Scale(9, "billion", "billion", "billion", r"billions?|bn\b"),
        _Scale(12, "trillion", "trillion", "trillion", r"trillions?|tn\b"),
    ),
    "de": (
        _Scale(3, "Tausend", "Tausend", "Tsd.", r"tausend|Tsd\."),
        _Scale(6, "Million", "Millionen", "Mio.", r"Million(?:en)?|Mio\b\.?"),
        _Scale(9, "Milliarde", "Milliarden", "Mrd.", r"Milliarden?|Mrd\b\.?"),
        _Scale(12, "Billion", "Billionen", "Bio.", r"Billion(?:en)?|Bio\b\.?"),
    ),
}
_ABBREVIATION = re.compile(r"m|mn|mln|bn|tn|.*\.|Mio|Mrd|Bio|Tsd", re.IGNORECASE)


class _Amount(NamedTuple):
    value: tuple[str, str] | None
    scale: _Scale | None
    number: str
    word: str
    start: int
    end: int


def with_scales(source: str, output: str, languages: Languages) -> str:
    """Return `output`, the translation of `source`, where each amount with a word such as "million" has the word of the target language
    for the same power of ten, in the singular after 1, in the plural otherwise.

    Only between English and German; an amount is found in the output by its value.
    """
    own, other = convention(languages[0]), convention(languages[1])
    code = short_code(languages[1])
    if own is None or other is None or {short_code(languages[0]), code} != set(_SCALES):
        return output
    wanted = _amounts(source, own, short_code(languages[0]))
    if not wanted:
        return output
    there, edits = _amounts(output, other, code), list[Edit]()
    for amount in wanted:
        found = next((each for each in there if each.value == amount.value), None)
        if found is None or amount.scale is None:
            continue
        there.remove(found)
        scale = next(each for each in _SCALES[code] if each.power == amount.scale.power)
        word = _word(found, scale, is_short=_ABBREVIATION.fullmatch(amount.word) is not None)
        if word != found.word:
            last = output[found.end :].strip() == "" and found.word.endswith(".") and not word.endswith(".")
            space = "" if output[found.start - 1 : found.start].isspace() else " "
            edits.append(Edit(found.start, found.end, found.word, space + word + "." * (last and source.rstrip().endswith("."))))
    return apply_edits(output, sorted(edits))


def _word(found: _Amount, scale: _Scale, *, is_short: bool) -> str:
    """The word of a `scale` for an amount of an output; its own word if that is right."""
    if found.scale is scale and (found.word.endswith(".") or scale.power == 3):
        return found.word
    if is_short and (found.scale is not scale or len(found.word) <= 3):
        return scale.short
    return scale.one if found.number == "1" else scale.many


def _amounts(text: str, own: Convention, code: str) -> list[_Amount]:
    """The amounts of a text with a word for a power of ten, in order; a word of the other language counts if the own has none."""
    found = []
    for match in _pattern(code).finditer(text):
        word = match["word"]
        if len(word) == 1 and not ((match["sign"] or match["sign2"]) and match.end("number") == match.start("word")):
            continue  # metres
        codes = (code, *(each for each in _SCALES if each != code))
        scales = (each for one in codes for each in _SCALES[one] if re.fullmatch(each.forms, word, re.IGNORECASE))
        found.append(_Amount(value_of(match["number"], own), next(scales, None), match["number"], word, *match.span("word")))
    return found


@cache
def _pattern(code: str) -> re.Pattern[str]:
    own = [scale.forms for each in sorted(_SCALES, key=lambda each: each != code) for scale in _SCALES[each]]
    forms = "|".join(own)
    return re.compile(
        rf"(?<![\w.,])(?P<sign>[{CURRENCIES}]\s?)?(?<![\d.,])(?P<number>[0-9]+(?:[.,][0-9]+)*)\s?(?P<word>{forms})(?!\w)(?P<sign2>\s?[{CURRENCIES}])?",
        re.IGNORECASE,
    )
