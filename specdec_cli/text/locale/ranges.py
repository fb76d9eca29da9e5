"""Ranges of prices and percentages ($5-10, 5 $ to 10 $, 10-15 %), of which a model reads only the end if it does not translate them, and
texts that are nothing but quantities or a date: how another language writes them.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.dates import find_dates, has_short_names, joint, knows_dates, written_date
from specdec_cli.text.locale.languages import CURRENCIES, CURRENCY_CODE, MULTIPLIER, convention
from specdec_cli.text.locale.other_dates import with_months_in_digits, with_named_months
from specdec_cli.text.locale.quantities import (
    PERCENT,
    SYMBOL,
    Languages,
    Quantity,
    as_written,
    find_quantities,
    has_digits,
    with_percent,
    with_sign,
    without_dash_cents,
    written,
)
from specdec_cli.text.marks import THIN_SPACES
from specdec_cli.text.protect.spans import NO_TEXT, hidden, once
from specdec_cli.text.protect.stand_ins import ReadText, StandIn, read_with

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
    for each in find_ranges(source, languages[0]) if _knows(languages) else ():
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
    return [each for each in find_ranges(source, languages[0]) if not _has(output, each, languages[1])] if _knows(languages) else []


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


def _knows(languages: Languages) -> bool:
    return knows_dates(languages)


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
