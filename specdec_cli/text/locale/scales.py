"""Amounts with a word for a power of ten, as in "$2.5 billion" and "1,5 Mio. €": the word that a translation has after them; and
abbreviations beside numbers.
"""

import re
from functools import cache, partial
from typing import NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.languages import (
    ABBREVIATIONS,
    BESIDE_NUMBERS,
    CURRENCIES,
    CURRENCY_CODES,
    MULTIPLIER,
    REFERENCES,
    SCALES,
    Convention,
    Scale,
    convention,
    currency_names,
)
from specdec_cli.text.locale.quantities import Languages, has_digits, value_of, with_sign
from specdec_cli.text.protect.spans import changed_outside

_LONGEST_ABBREVIATION, _THOUSAND = 4, 3
_LETTERED = re.compile(
    r"(?<![\w.,:/-])(?:\d{1,3}[a-h](?![\w.:/-]*\w)|\d{1,3} ?ft\.? \d{1,2} ?in\b(?= (?:long|tall|high|wide|deep|thick|x)\b|[.,;)]|$))"
)
_PRODUCT = re.compile(r"(?<![\w.,/])\d+(?:[.,]\d+)?(?:\s?[x\u00d7]\s?\d+(?:[.,]\d+)?){2,}(?!\w)")
"""Three sizes of something or more: 10 x 20 x 5."""
_ZONES = "UTC GMT CET CEST BST EST EDT CST CDT MST MDT PST PDT IST JST AEST WET EET"
_ZONED = re.compile(rf"(?<![\w:.,])\d{{1,2}}(?::\d\d)?(?: ?[ap]\.?m\.?| Uhr)? ?\(?(?P<zone>{'|'.join(_ZONES.split())})\b", re.IGNORECASE)
"""A time with the abbreviation of its time zone."""
_EAST = {code: re.compile(rf"([\d\u00b0'\"\u2032\u2033] ?){letter}(?!\w)") for code, letter in (("en", "E"), ("de", "O"))}
_STOP_BEFORE_ZONE = re.compile(rf"(?<=Uhr)\.(?= \(?(?:{'|'.join(_ZONES.split())})\b)")
_GENDERS = re.compile(r"\((?:[mfwdx]/){1,2}[mfwdx]\)")
"""The genders of a job: (m/f/d), in German (m/w/d)."""
_FEMALE = {"en": str.maketrans("f", "w"), "de": str.maketrans("w", "f")}
_NUMBERED, _ZAHL = re.compile(r"\b[Nn]umbers? [A-Z]{0,4}\d"), re.compile(r"\bZahl(?= \d)")
_NAME_START = r"(?:(?<!\w)|(?<=\d)|(?<=en)|(?<=-))"
"""What is before the name of a currency, which may be joined to a word for a power of ten: Milliardenpfund."""


class _Amount(NamedTuple):
    """A number, its value, and the word for a power of ten after it, which is from `start` to `end` of a text; with the `sign` of a
    currency, if it has one, all are from `first` to `last`.
    """

    value: tuple[str, str] | None
    scale: Scale | None
    number: str
    word: str
    start: int
    end: int
    sign: str
    first: int
    last: int


def spelled_out(text: str, language: str) -> str:
    """Return `text` with abbreviations beside numbers written as words: "$20m" becomes "$20 million", "1,5 Mio. Euro" "1,5 Millionen Euro",
    "no. 5" "number 5", and "get 1 free" "get 1 as a gift". So are other abbreviations, such as "incl." and "d. h.".

    Models know the words better, and may take the full stop of "Mio." for the end of the sentence. Only English and German are changed.
    """
    code, own = short_code(language), convention(language)
    if code in ABBREVIATIONS and not text.isupper():
        text = _abbreviations(code).sub(partial(_in_words, code), text)
    if code not in SCALES or own is None or not has_digits(text):
        return text
    if "k" in text and _THOUSANDS.search(text):
        text = changed_outside(text, partial(_THOUSANDS.sub, partial(_in_full, own)))
    for pattern, phrase in BESIDE_NUMBERS[code]:
        text = pattern.sub(phrase, text)
    edits = list[Edit]()
    for amount in _amounts(text, own, code):
        is_short = amount.scale in SCALES[code] and len(amount.word) <= _LONGEST_ABBREVIATION
        if amount.scale is not None and is_short and text[amount.end :].strip():
            edits.append(_changed(text, amount, amount.scale))
    return apply_edits(text, edits)


_K = r"(?P<number>\d{1,3})(?:(?P<decimal>[.,])(?P<tenth>\d))?k(?![\w/])"
_THOUSANDS = re.compile(
    rf"(?<![\w.,])(?P<before>[{CURRENCIES}] ?)?(?:(?P<first>\d{{1,3}})k?(?P<dash>\s?[-\u2013]\s?[{CURRENCIES}]?))?{_K}"
    rf"(?P<after> ?[{CURRENCIES}])?"
)
"""Amounts of thousands with the sign of a currency: $80k, 70-90k \u20ac."""


def _in_full(own: Convention, match: re.Match[str]) -> str:
    """An amount of thousands in digits, if it has the sign of a currency."""
    if not (match["before"] or match["after"]):
        return match.group()
    last = f"{match['number']}{own.group}{match['tenth'] or 0}00"
    first = f"{match['first']}{own.group}000{match['dash']}" if match["first"] else ""
    return f"{match['before'] or ''}{first}{last}{match['after'] or ''}"


@cache
def _abbreviations(code: str) -> re.Pattern[str]:
    forms = "|".join(re.escape(each).replace("\\ ", " ?") for each in ABBREVIATIONS[code])
    return re.compile(rf"(?<![\w./-])(?i:{forms})(?![\w/])")


def _in_words(code: str, match: re.Match[str]) -> str:
    """The words for an abbreviation, with a capital if it has one alone or begins a text, and with the full stop at the end of a text."""
    short = match.group()
    words = _words_of_abbreviations(code)[short.replace(" ", "").lower()]
    if short[0].isupper() and (match.start() == 0 or not short[1].isupper()):
        words = words[0].upper() + words[1:]
    return words + "." * (short[-1] == "." and match.end() == len(match.string))


@cache
def _words_of_abbreviations(code: str) -> dict[str, str]:
    return {each.replace(" ", "").lower(): words for each, words in ABBREVIATIONS[code].items()}


def with_scales(source: str, output: str, languages: Languages) -> str:
    """Return `output`, the translation of `source`, where each amount with a word such as "million" has the word of the target language
    for the same power of ten, in the singular after 1, in the plural otherwise.

    Only between English and German; an amount is found in the output by its value.
    """
    there, edits = _amounts_of(output, languages, 1), list[Edit]()
    for amount in _amounts_of(source, languages, 0):
        found = next((each for each in there if each.value == amount.value), None)
        if found is None or amount.scale is None:
            continue
        there.remove(found)
        scale = next(each for each in SCALES[short_code(languages[1])] if each.power == amount.scale.power)
        is_short = scale.one != scale.many and len(found.word) <= _LONGEST_ABBREVIATION
        edit = _changed(output, found, scale)
        if (found.scale is scale and is_short) or found.word == scale.word(found.number):
            edit = Edit(found.start, found.end, output[found.start : found.end], output[found.start : found.end])
        edits.append(_with_sign(output, found, edit, languages) if amount.sign and amount.sign == found.sign else edit)
    return apply_edits(output, sorted(edits))


def with_references(source: str, output: str, languages: Languages) -> str:
    """Return `output`, the translation of `source`, with the abbreviations of its own language before numbers where it has those of the
    source: "Abb. 3" in the place of "Fig. 3", and the E or O of a longitude. Only between English and German.
    """
    codes = tuple(map(short_code, languages))
    if codes not in (("en", "de"), ("de", "en")):
        return output
    output = _STOP_BEFORE_ZONE.sub("", output)
    if _GENDERS.search(source):
        output = _GENDERS.sub(lambda found: found.group().translate(_FEMALE[codes[0]]), output)
    if "\u00b0" in source and _EAST[codes[0]].search(source):
        output = _EAST[codes[0]].sub(r"\1O" if codes[0] == "en" else r"\1E", output)
    if codes[0] == "en" and _NUMBERED.search(source):
        output = _ZAHL.sub("Nummer", output)
    if "." not in source:
        return output
    pairs = [pair if codes[0] == "en" else pair[::-1] for pair in REFERENCES]
    for own, other in pairs if _references(tuple(own for own, _ in pairs)).search(source) else ():
        pattern = _reference(own)
        if pattern.search(source):
            output = pattern.sub(f"{other}\\g<space>", output)
    return output


def lost_letters(source: str, output: str) -> list[str]:
    """The numbers of `source` that `output` lacks with a letter, as in "Fig. 2a", in feet and inches (6 ft 2 in), in sizes (10 x 20 x 5),
    and times with a time zone.
    """
    if not has_digits(source):
        return []
    lost = [each for each in _LETTERED.findall(source) if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", output) is None]
    digits = re.sub(r"\s", "", output).replace(",", ".").replace("\u00d7", "x")
    lost += [each for each in _PRODUCT.findall(source) if re.sub(r"\s", "", each).replace(",", ".").replace("\u00d7", "x") not in digits]
    return lost + [match.group() for match in _ZONED.finditer(source) if match["zone"] not in output]


@cache
def _references(abbreviations: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_reference(each).pattern.replace("?P<space>", "?:") for each in abbreviations))


@cache
def _reference(abbreviation: str) -> re.Pattern[str]:
    """An abbreviation before the number of a part of a text, with its first letter small or a capital, but for the German ones."""
    first, rest = abbreviation[0], re.escape(abbreviation[1:])
    either = first if abbreviation in {german for _, german in REFERENCES} else f"[{first.lower()}{first.upper()}]"
    return re.compile(rf"(?<![\w.]){either}{rest}(?P<space>\s?)(?=[A-Z]?\d|[IVX]+\b)")


def lost_scales(source: str, output: str, languages: Languages) -> list[str]:
    """The numbers of `source` with a word for a million or more, if `output` has no word for that power of ten."""
    wanted = [each for each in _amounts_of(source, languages, 0) if each.scale is not None and each.scale.power > _THOUSAND]
    if not wanted:
        return []
    own = [each for each in SCALES[short_code(languages[1])] if re.search(rf"(?<![^\W\d_])(?:{each.forms})", output, re.IGNORECASE)]
    return [each.number for each in wanted if each.scale is not None and each.scale.power not in {scale.power for scale in own}]


def lost_currencies(source: str, output: str, languages: Languages) -> list[str]:
    """The numbers of `source` with the name of a currency after them, "2 billion pounds", if `output` has neither its name, sign nor code.

    Only between languages whose names of currencies are known.
    """
    source_code, target_code = map(short_code, languages)
    lost = []
    for sign in CURRENCIES if source_code != target_code and has_digits(source) else ():
        names, there = currency_names(sign, source_code), currency_names(sign, target_code)
        amounts = [match[1] for match in _amounts_with(names).finditer(source)] if names and there else []
        named = rf"{_NAME_START}(?:{there}|{CURRENCY_CODES[sign]})(?!\w)"
        if amounts and sign not in output and not re.search(named, output, re.IGNORECASE):
            lost += amounts
    return lost


@cache
def _amounts_with(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,])([0-9]+(?:[.,][0-9]+)*)(?:{MULTIPLIER.pattern})?\s?(?:{names})(?!\w)", re.IGNORECASE)


def _changed(text: str, found: _Amount, scale: Scale) -> Edit:
    """The change of the word of an amount to that of a `scale`; a full stop that ends the text stays."""
    stop = "." * (found.word.endswith(".") and not text[found.end :].strip())
    space = "" if text[found.start - 1 : found.start].isspace() else " "
    return Edit(found.start, found.end, text[found.start : found.end], space + scale.word(found.number) + stop)


def _with_sign(text: str, found: _Amount, edit: Edit, languages: Languages) -> Edit:
    """The change of an amount and its word, with the sign of the currency where the language has it beside both."""
    own = convention(languages[1])
    assert own is not None
    word = edit.text if edit.text.startswith(" ") else f" {edit.text}"
    return Edit(found.first, found.last, text[found.first : found.last], with_sign(found.number + word, found.sign, own))


def _amounts_of(text: str, languages: Languages, place: int) -> list[_Amount]:
    """The amounts of a text in one of the `languages`, if these are English and German."""
    own, codes = convention(languages[place]), tuple(map(short_code, languages))
    return _amounts(text, own, codes[place]) if own is not None and set(codes) == set(SCALES) else []


def _amounts(text: str, own: Convention, code: str) -> list[_Amount]:
    """The amounts of a text with a word for a power of ten, in order; a word of the other language counts if the own has none."""
    found = []
    for match in _pattern(code).finditer(text) if has_digits(text) else ():
        word = match["word"]
        signs = [sign.strip() for sign in match.group("sign", "inside", "sign2") if sign]
        if len(word) == 1 and not (signs and match.end("number") == match.start("word")):
            continue  # metres
        codes = (code, *(each for each in SCALES if each != code))
        scales = (each for one in codes for each in SCALES[one] if re.fullmatch(each.forms, word, re.IGNORECASE))
        value, sign = value_of(match["number"], own), signs[0] if len(signs) == 1 else ""
        found.append(_Amount(value, next(scales, None), match["number"], word, *match.span("word"), sign, *match.span()))
    return found


@cache
def _pattern(code: str) -> re.Pattern[str]:
    own = [scale.forms for each in sorted(SCALES, key=lambda each: each != code) for scale in SCALES[each]]
    forms = "|".join(own)
    return re.compile(
        rf"(?<![\w.,])(?P<sign>[{CURRENCIES}]\s?)?(?<![\d.,])(?P<number>[0-9]+(?:[.,][0-9]+)*)(?P<inside>\s?[{CURRENCIES}])?\s?(?P<word>{forms})(?!\w)(?P<sign2>\s?[{CURRENCIES}])?",
        re.IGNORECASE,
    )
