"""Amounts with a word for a power of ten ("$2.5 billion", "1,5 Mio. €") and abbreviations beside numbers; ranges of prices and percentages
($5-10, 5 $ to 10 $, 10-15 %), of which a model reads only the end if it does not translate them; and texts that are nothing but
quantities or a date.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.dates import find_dates, has_short_names, joint, knows_dates, written_date
from specdec_cli.text.locale.languages import (
    ABBREVIATIONS,
    BESIDE_NUMBERS,
    CURRENCIES,
    CURRENCY_CODE,
    CURRENCY_CODES,
    MULTIPLIER,
    REFERENCES,
    SCALES,
    Convention,
    Scale,
    convention,
    currency_names,
)
from specdec_cli.text.locale.other_dates import with_months_in_digits, with_named_months
from specdec_cli.text.locale.quantities import (
    PERCENT,
    SYMBOL,
    Languages,
    Quantity,
    as_written,
    find_quantities,
    has_digits,
    value_of,
    with_percent,
    with_sign,
    without_dash_cents,
    written,
)
from specdec_cli.text.marks import THIN_SPACES
from specdec_cli.text.protect.spans import NO_TEXT, changed_outside, hidden, once
from specdec_cli.text.protect.stand_ins import ReadText, StandIn, read_with

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


_SIGN = f"[{CURRENCIES}%]"
_BETWEEN = re.compile(rf"\s?(?P<first>{_SIGN})?(?:(?P<dash>\s?[-\u2013]\s?)|\s(?P<word>to|bis)\s)(?P<last>{_SIGN})?\s?")
_BEFORE, _AFTER = re.compile(rf"({_SIGN})\s?$"), re.compile(rf"\s?({_SIGN})")
_CHANGE = re.compile(r"\b(?:from|between|von|zwischen) $", re.IGNORECASE)
"""What is before two amounts of which the second alone says something else."""
_ANY_DASH = r"\s?(?:-{1,2}|[\u2013\u2014])\s?"


@dataclass(frozen=True, slots=True)
class AmountRange:
    """A range of two amounts with the same sign, of a currency or "%", at the offsets `start` to `end` of a text.

    `dash` is the dash between both with its spaces, or "" if a word is there. With `is_change` the text tells of a change, as "from $5 to
    $10" does, so that the second amount alone would mean something else. With `is_scaled` a word such as "million" follows.
    """

    start: int
    end: int
    text: str
    first: Quantity
    last: Quantity
    sign: str
    dash: str
    is_change: bool
    is_scaled: bool


@once
def find_ranges(text: str, language: str) -> tuple[AmountRange, ...]:
    """The ranges of a text in order; none if its language has no known convention."""
    quantities, found = find_quantities(text, language) if has_digits(text) else (), list[AmountRange]()
    for first, last in pairwise(quantities):
        between = _BETWEEN.fullmatch(text, first.end, last.start)
        if between is None or not {first.kind, last.kind} <= {"price", "number"}:
            continue
        scale = MULTIPLIER.match(text, last.end)
        before, after = _BEFORE.search(text, max(first.start - 2, 0), first.start), _AFTER.match(text, scale.end() if scale else last.end)
        signs = [each for each in (before and before[1], between["first"], between["last"], after and after[1]) if each]
        if len(set(signs)) != 1 or (between["word"] and len(signs) == 1 and not after):
            continue
        start, end = before.start() if before else first.start, after.end() if after else last.end
        is_change = _CHANGE.search(text, max(start - 10, 0), start) is not None
        found.append(AmountRange(start, end, text[start:end], first, last, signs[0], between["dash"] or "", is_change, scale is not None))
    return tuple(found)


def written_range(each: AmountRange, language: str, scale: str = "") -> str:
    """A range as `language` writes it, with one sign, and a word for a power of ten."""
    between = each.dash or joint("to", language)
    return _signed(f"{written(each.first, language)}{between}{written(each.last, language)}{scale}", each.sign, language)


def with_ranges(source: str, output: str, languages: Languages) -> str:
    """Return `output`, the translation of `source`, in which each range with a dash has one sign, where the language has it."""
    for each in find_ranges(source, languages[0]) if knows_dates(languages) else ():
        first, last = (_amount(quantity, languages[1]) for quantity in (each.first, each.last))
        sign = rf"\s?{re.escape(each.sign)}?\s?"
        match = re.search(rf"(?<![\d.,]){sign}{first}{sign}{_ANY_DASH}{sign}{last}(?!\d)(?:\s?{re.escape(each.sign)})?", output)
        if match is not None and each.dash and each.sign in match.group():
            space, end, shown = " " * (match.group()[0].isspace()), match.end(), written_range(each, languages[1])
            scale = MULTIPLIER.match(output, end) if each.is_scaled else None
            if scale is not None:
                end, shown = scale.end(), written_range(each, languages[1], scale.group())
            output = f"{output[: match.start()]}{space}{shown}{output[end:]}"
    return output


def lost_ranges(source: str, output: str, languages: Languages) -> list[AmountRange]:
    """The ranges of `source` whose amounts are not in `output` with a dash or words between them."""
    return [each for each in find_ranges(source, languages[0]) if not _has(output, each, languages[1])] if knows_dates(languages) else []


def read_as_one(text: str, lost: Collection[AmountRange], languages: Languages) -> ReadText | None:
    """The `text` in which each of the `lost` ranges is replaced by its second amount; None if that would change the meaning."""
    ranges = [each for each in find_ranges(text, languages[0]) if each in lost]
    if not ranges or any(each.is_change or each.is_scaled for each in ranges):
        return None
    return read_with(text, [_second_amount(each, *languages) for each in ranges])


def _second_amount(each: AmountRange, source: str, target: str) -> StandIn:
    amount = re.escape(_signed(written(each.last, target), each.sign, target)).replace("\u00a0", r"\s?")
    shown = _signed(each.last.text, each.sign, source)
    return StandIn(each.start, each.end, shown, rf"(?<![\d.,]){amount}(?![\d])", written_range(each, target))


def _amount(quantity: Quantity, language: str) -> str:
    return f"(?:{re.escape(written(quantity, language))}|{re.escape(quantity.text)})"


def _has(output: str, each: AmountRange, language: str) -> bool:
    first, last = (_amount(quantity, language) for quantity in (each.first, each.last))
    words = r"\s(?:bis|to)\s" if each.dash else r".{0,30}\b[^\W\d_]{2,}.{0,10}?"
    between, sign = f"(?:{_ANY_DASH}|{words})", rf"\s?{re.escape(each.sign)}?\s?"
    return re.search(rf"(?<![\d.,]){first}{sign}{between}{sign}{last}(?!\d)", output) is not None


def _signed(amount: str, sign: str, language: str) -> str:
    own = convention(language)
    assert own is not None
    return with_percent(amount, own) if sign == "%" else with_sign(amount, sign, own)


_ITEM = rf"[-\u2212]?(?:{CURRENCY_CODE}|[{CURRENCIES}])?\s?#\s?(?:[{CURRENCIES}%]|{SYMBOL}|{CURRENCY_CODE})?"
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
