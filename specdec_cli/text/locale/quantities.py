"""Numbers, labels, prices and times: where they are in a text, and how a language writes them."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, Span, apply_edits
from specdec_cli.text.locale.languages import AMOUNT_WORDS, CURRENCIES, MULTIPLIER, Convention, convention, half_of_day, is_function_word
from specdec_cli.text.marks import THIN_SPACES
from specdec_cli.text.protect.spans import NO_TEXT, hidden, once, protected_spans

Languages = tuple[str, str]
"""The codes of the languages of a source and its translation; "" if unknown."""
SIGN_BEFORE, SIGN_AFTER = re.compile(rf"([{CURRENCIES}])[ \u00a0]?$"), re.compile(rf"[ \u00a0]?([{CURRENCIES}])")
_SIGN_AFTER_SCALE = re.compile(rf"{MULTIPLIER.pattern}{SIGN_AFTER.pattern}(?!\s?\d)", re.IGNORECASE)
_DIGIT = "[0-9]"
_ANY_DIGIT = re.compile(r"\d")
_LABEL = re.compile(
    r"\b(?:versions?|ver|v|releases?|chapters?|chap|ch|sections?|sect?|figures?|figs?|tables?|tab|steps?|parts?|appendix|exercises?|examples?"
    r"|equations?|eqs?|pages?|pp?|clauses?|articles?|paragraphs?|par|rules?|levels?|numbers?|nos?|nr|items?|tasks?|rooms?|values?|updates?|patch|build"
    r"|python|java|php|ruby|perl|node|windows|ios|android|macos|ubuntu|debian|fedora|linux|kernel|gcc|gcj|clang|g?libc|lib\w+|openssl|qt|gtk|kde"
    r"|gnome|gimp|mysql|postgresql|sqlite|apache|nginx|firefox|darktable|git|cmake|kapitel|abschnitt|abbildung|abb|tabelle"
    r"|schritt|teil|aufgabe)\.?\s$",
    re.IGNORECASE,
)
"""The words after which a number with a point names something: version 1.5, section 4.2."""
_GLUED_BEFORE, _GLUED_AFTER = (
    re.compile(rf"[\w.{NO_TEXT}][-+~]$|[^\W\d_]/$"),
    re.compile(r"(?!x\d)[A-Za-z]+\d|[A-Za-z]{4}|[A-Z]{3}|(?!x)[a-z]-\d|\.x"),
)
"""What is directly before or after the numbers of versions: 8.12.3-6.6, 3.1r8, 4.4BSD, 2.12p-8; not the x of 7.62x39."""
_VERSION_AFTER = re.compile(
    r"\s(?:LTS|CDs?|DVDs?|kernels?|series|branch|releases?|versions?|r\d"
    r"|(?:and|or) (?:later|newer|above|higher|earlier|older|up))\b|(?:ad|ac|ax|er)\b"
)
"""What is after the numbers of versions and standards: 2.6 kernel, 4.9 or later, 802.3ad."""
_HEADING_AFTER = re.compile(r"\s+[A-Z][a-z]")
"""What is after the number of a heading: 1.2 Installation."""
_NAMED = re.compile(r"(?P<inside>(?<=[\w,;)] ))?\b(?P<word>[^\W\d_a-z][\w.+-]*)\s$")
"""A word with a capital, which may be a name with a number after it."""
_BEGINNING = re.compile(
    r"(?:add|use|take|buy|about|over|under|above|below|only|nearly|almost|roughly|around|some|up|give|pay|save|wait|walk|run|drive|mix|set|get"
    r"|between|within|after|before|since|until|every|each|another|these|those|than|per|more|less|rent|sales|profits?|prices?|costs?)$",
    re.IGNORECASE,
)
"""Words at the beginning of a sentence that are no names with a number after them, beside function words."""
UNIT = re.compile(
    r"\s?(?:[%\u2030\u00b0\u2032\u2033$\u20ac\u00a3]|(?-i:(?:[kcm\u00b5dhMGT]?(?:m|g|l|L|B|b|W|A|V|J|N|Hz|Pa|bit|t)"
    r"|ft|yd|mi|lbs?|oz|ha|s|h|min|K|C|F|x)(?!\w)))|[A-Za-z]{1,3}(?!\w)|-[a-z]"
    r"|\s(?:percent|per|hundred|thousand|million|billion|trillion|degrees?|(?:kilo|centi|milli|mega|giga)?(?:met(?:re|er)|gram|lit(?:re|er)|byte|watt"
    r"|hertz|tonne)s?|tons?|inch(?:es)?|f(?:ee|oo)t|miles?|yards?|pounds?|ounces?|gallons?|(?:second|minute|hour|day|week|month|year|time)s?"
    r"|people|points?|dollars?|euros?|cents?|kmh|mph|kcal|calories|volts?|bar|stars?|goals?)\b",
    re.IGNORECASE,
)
SYMBOL = (
    r"(?:[kcm\u00b5dhMGT]?(?:m[\u00b2\u00b3]?|Wh|g|l|L|B|b|W|A|V|J|N|Hz|Pa|bit|t)(?:/[smhl])?"
    r"|\u00b0[CF]?|ft|yd|mi|lbs?|oz|ha|s|h|min|K|x)(?!\w)"
)
"""Symbols of units, which all languages write in the same way."""
PERCENT = re.compile(rf"[ {THIN_SPACES}]?%(?!\w|-[^\W\d])")
"""A percent sign after a number, with nothing after it that makes it a part of a word."""
_CHAIN = re.compile(r"\s?[,;]?\s?(?:(?:and|or|to|not|but not|instead of|rather than|than|und|oder|bis|nicht)\s|[-\u2013]\s?)?")
_DASH_CENTS = re.compile(r"(?<=\d),(?:-{1,2}|[\u2013\u2014])(?![\w-])")
_HALF = rf"(?:\s?{half_of_day()}\b(?:\.(?!\s*$|[\"'\u201d)]|\s+(?-i:[A-Z])))?)"
_STOP_AFTER_24 = r"(?:(?:(?<=\.m)|(?<=\.\sm)|(?!\.\s+(?-i:[A-Z\u00c4\u00d6\u00dc])))\.(?!\s*$|[\"'\u201c\u201d\u00ab\u00bb)]))?"
"""The full stop of "p.m." where it ends no sentence. It may be before a capital, as nouns have them, in "p.m.", but not in "pm."."""
_HALF_AFTER_24, _HALF_AFTER_HOUR = (
    rf"(?:\s?(?=(?-i:[AP]M\b)|[ap]\.\s?m\.|pm\b|am(?:\s?[-\u2013]\s?\d|[.,;!?)]|$)){half_of_day(suffix)}{_STOP_AFTER_24})"
    for suffix in ("", "2")
)
"""A time of half a day in a language where "am" is a word, which stands before others."""
_HOUR = rf"(?<![\w:])(?<!\d[.,])(?P<hour>{_DIGIT}{{1,2}})"
_NOT_MORE = r"(?![\d:])(?![.,]\d)"
_NO_AMOUNT = (
    r"(?=[,;.!?]+(?:\s|$)|$|\s(?:on|in|and|or|to|for|with|from|every|each|sharp|tomorrow|today|tonight|yesterday"
    r"|this|last|next|when|but|because)\b)"
)
"""What is after a time with a full stop, as in "at 9.30 on Monday", which an amount in its place would hardly have."""
_CLOCK = rf"(?:[01]?{_DIGIT}|2[0-3])(?:[.:][0-5]\d)?(?![.:,]?\d)"
_LIST = re.compile(
    rf"\b(?P<before>at|between|from) (?P<times>{_CLOCK}(?:(?:,|,? (?:and|or|to|until|till)(?: again)?(?: at)?) {_CLOCK})*+)"
    rf"(?!\s?{half_of_day()}\b){_NO_AMOUNT}",
    re.IGNORECASE,
)
"""Times of which some may have a full stop: "at 11.45 and 12.15", "between 9 and 11.30"."""
_DOTTED = re.compile(rf"(?<![\d:.])(?P<hour>{_DIGIT}{{1,2}})\.(?P<minute>{_DIGIT}\d)")
_ENGLISH_TIME = re.compile(
    rf"{_HOUR}(?:[:.](?P<minute>{_DIGIT}\d))?{_HALF}|{_HOUR.replace('hour', 'hour2')}:(?P<minute2>{_DIGIT}\d){_NOT_MORE}",
    re.IGNORECASE,
)
_RANGE_START = re.compile(rf"{_HOUR}(?::(?P<minute>{_DIGIT}\d))?\s*(?:to|and|or|until|till|-|\u2013)\s*$", re.IGNORECASE)
_OTHER_TIME = re.compile(
    rf"{_HOUR}(?:(?P<separator>[:.]|\s?h\s?)(?P<minute>{_DIGIT}\d){_NOT_MORE}(?P<mark>\s?Uhr\b|\s?h\b)?|(?P<mark2>\s?Uhr\b|\s?h\b)){_HALF_AFTER_24}?"
    rf"|{_HOUR.replace('hour', 'hour2')}{_HALF_AFTER_HOUR}",
    re.IGNORECASE,
)
_AFTERNOON_WORD = re.compile(r"\s(?:nachmittags|abends|am (?:Nachmittag|Abend)|in der Nacht|nachts)\b")
_CHAIN_OF_TIMES = re.compile(rf"(?:(?:,|,? (?:und|oder|bis)|\s?[-\u2013]\s?)\s?{_CLOCK})+\s?Uhr\b")
"""What is after a time of a list or range in German whose last time has "Uhr"."""
_AT_TIME = re.compile(r"\b(?:um|gegen) $")
"""What is before a time in German, also one with a full stop and without "Uhr"."""
HALF_DAY = 12 * 60


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, label, price or time: the characters `start` to `end` of a text.

    - `digits`, `fraction`: of a number or the amount of a price, without separators; `grouped`: it has separators of thousands.
    - `minutes`: those of a time after midnight; `exact`: it cannot be twelve hours later.
    - `sign`: the currency of a price, whose sign is not part of the characters.

    A label, such as the number of a version, is written in the same way in every language.
    """

    start: int
    end: int
    text: str
    kind: Literal["number", "label", "price", "time"]
    digits: str = ""
    fraction: str = ""
    grouped: bool = False
    sign: str = ""
    minutes: int = -1
    exact: bool = True

    @property
    def value(self) -> tuple[str, str]:
        """The number without leading and trailing zeros: digits before and after the decimal mark."""
        return self.digits.lstrip("0"), self.fraction.rstrip("0")


@once
def find_quantities(text: str, language: str) -> tuple[Quantity, ...]:
    """The quantities of a text in `language`, in order, outside of protected spans; none if the language has no known convention."""
    own = convention(language)
    if own is None or not has_digits(text):
        return ()
    shown = unprotected(text, own)
    times = list(find_times(shown, own))
    numbers: list[Quantity] = []
    for match in _number_pattern(own).finditer(hidden(shown, [(time.start, time.end) for time in times])):
        numbers.append(_quantity(shown, match, own, numbers))
    return tuple(sorted([*times, *numbers], key=lambda each: each.start))


def has_digits(text: str) -> bool:
    """Whether a text has a decimal digit."""
    return _ANY_DIGIT.search(text) is not None


def written(quantity: Quantity, language: str) -> str:
    """A quantity as `language` writes it; a label, and a quantity for a language without a known convention, as it is."""
    own = convention(language)
    if own is None or quantity.kind == "label":
        return quantity.text
    if quantity.kind == "time":
        return written_time(quantity.minutes, own, language) if quantity.exact else quantity.text
    digits = f"{int(quantity.digits):,}".replace(",", own.group) if quantity.grouped else quantity.digits
    return digits + (own.decimal + quantity.fraction if quantity.fraction else "")


def unprotected(text: str, own: Convention) -> str:
    """`text` with its protected spans hidden, except for numbers: 1.234.567 is one in German, and 12345 in all languages."""
    return hidden(text, [span for span in protected_spans(text) if not _number_pattern(own).fullmatch(text, *span)])


def without_dash_cents(text: str, language: str) -> str:
    """Return `text` without the dash that stands for no cents, as in "5,- \u20ac", in a language with a decimal comma."""
    own = convention(language)
    return _DASH_CENTS.sub("", text) if own is not None and own.decimal == "," else text


def with_sign(amount: str, sign: str, own: Convention) -> str:
    """An amount with the sign of its currency."""
    return own.price.replace("#", amount).replace("\u00a4", sign)


def find_times(text: str, own: Convention | None) -> Iterator[Quantity]:
    """The times of a text, in order; those of an unknown language are read as in English."""
    if own is not None and own.clock == 24:
        return _other_times(text)
    return iter(sorted([*_english_times(text), *_dotted_times(text)], key=lambda time: time.start))


def value_of(number: str, own: Convention) -> tuple[str, str] | None:
    """The value of a number in digits (see `Quantity`); None if it is none by this convention, as 12.05.2020 is not."""
    match = _number_pattern(own).fullmatch(number)
    if match is None:
        return None
    return re.sub(r"\D", "", match["groups"] or match["digits"]).lstrip("0"), (match["fraction"] or "").rstrip("0")


@cache
def _number_pattern(own: Convention) -> re.Pattern[str]:
    group = f"[{re.escape(own.group)}{THIN_SPACES}{' ' * own.group.isspace()}]"
    decimal = re.escape(own.decimal)
    return re.compile(
        rf"(?<!\w)(?<!\d[.,:/'])(?<![a-z],)(?:(?P<groups>(?!0){_DIGIT}{{1,3}}(?:{group}{_DIGIT}{{3}})+)|(?P<digits>{_DIGIT}+))(?:{decimal}(?P<fraction>{_DIGIT}+))?"
        r"(?!\d)(?![.,:/']\d)"
    )


def _quantity(text: str, match: re.Match[str], own: Convention, before: Sequence[Quantity]) -> Quantity:
    """The number, label or price that a match of the pattern of numbers is; `before` are those before it."""
    digits, fraction = re.sub(r"\D", "", match["groups"] or match["digits"]), match["fraction"] or ""
    before_sign = SIGN_BEFORE.search(text, max(match.start() - 2, 0), match.start())
    after_sign = SIGN_AFTER.match(text, match.end()) or _SIGN_AFTER_SCALE.match(text, match.end())
    sign = before_sign[1] if before_sign else after_sign[1] if after_sign else ""
    kind: Literal["number", "label", "price"] = "price" if sign else "number"
    is_point = text[match.start() - 1 : match.start()] + text[match.end() : match.end() + 1] == "()" and len(match.group()) == 3
    if fraction and not match["groups"] and not sign and (is_point if own.decimal != "." else _is_label(text, match, before)):
        kind = "label"
    return Quantity(match.start(), match.end(), match.group(), kind, digits, fraction, match["groups"] is not None, sign)


def _is_label(text: str, match: re.Match[str], before: Sequence[Quantity]) -> bool:
    """Whether a number with a point names something, as in "version 1.5", "Windows 8.1", "sections 4.2 and 4.3" and "release 2.4 is newer
    than 2.3".
    """
    last = before[-1] if before else None
    if _VERSION_AFTER.match(text, match.end()):
        return True
    if _GLUED_AFTER.match(text, match.end()) or _GLUED_BEFORE.search(text, max(match.start() - 2, 0), match.start()):
        return last is None or last.end != match.start() - 1 or last.kind != "number"
    if UNIT.match(text, match.end()):
        return False
    if last is not None and last.kind == "label" and _CHAIN.fullmatch(text, last.end, match.start()):
        return True
    if not text[: match.start()].strip() and _HEADING_AFTER.match(text, match.end()):
        return True
    left = text[max(match.start() - 40, 0) : match.start()]
    if _LABEL.search(left) or (left.endswith(" than ") and any(each.kind == "label" for each in before)):
        return True
    named = _NAMED.search(left)
    if named is None:
        return False
    return named["inside"] is not None or not (_BEGINNING.match(named["word"]) or is_function_word(named["word"], "en"))


def _english_times(text: str) -> Iterator[Quantity]:
    """The times of a text in a language with a clock of 12 hours."""
    for match in _ENGLISH_TIME.finditer(text):
        half = (match["half"] or "").lower()
        hour, minute = _first(match, "hour", "hour2"), _first(match, "minute", "minute2")
        if minute > 59 or hour > (12 if half else 23) or (half and not hour):
            continue
        start = _RANGE_START.search(text, max(match.start() - 20, 0), match.start()) if half else None
        if start is not None and 1 <= int(start["hour"]) <= 12 and int(start["minute"] or 0) <= 59:
            begin = 60 * (int(start["hour"]) % 12) + int(start["minute"] or 0)
            later = begin <= 60 * (hour % 12) + minute
            other = half if later else "ap"[half == "a"]
            end = start.end("minute") if start["minute"] else start.end("hour")
            yield _time_at(text, start.start(), end, begin, other)
        yield _time_at(text, *match.span(), 60 * (hour % 12 if half else hour) + minute, half)


def _dotted_times(text: str) -> Iterator[Quantity]:
    """The English times with a full stop and without a.m. or p.m., if the text is not about prices, rates and the like.

    After "between" and "from", the first time must be an hour alone or have a colon: both numbers of "from 9.30 to 11.15" may be amounts.
    """
    if AMOUNT_WORDS.search(text):
        return
    for match in _LIST.finditer(text):
        times = list(_DOTTED.finditer(text, *match.span("times")))
        if match["before"].lower() == "at" or (times and times[0].start() > match.start("times")):
            for time in times:
                yield _time_at(text, *time.span(), 60 * int(time["hour"]) + int(time["minute"]), "")


def _first(match: re.Match[str], *groups: str) -> int:
    """The number in the first of the groups that is there; 0 if none is."""
    return int(next(filter(None, map(match.group, groups)), 0))


def _time_at(text: str, start: int, end: int, minutes: int, half: str) -> Quantity:
    minutes += HALF_DAY * (half == "p")
    exact = bool(half) or minutes < 60 or minutes >= HALF_DAY + 60
    return Quantity(start, end, text[start:end], "time", minutes=minutes, exact=exact)


def _other_times(text: str) -> Iterator[Quantity]:
    """The times of a text in a language with a clock of 24 hours."""
    for match in _OTHER_TIME.finditer(text):
        half = (match["half"] or match["half2"] or "").lower()
        hour, minute = _first(match, "hour", "hour2"), _first(match, "minute")
        is_sure = match["separator"] != "." or match["mark"] or half or _AT_TIME.search(text, max(match.start() - 6, 0), match.start())
        if minute > 59 or hour > 24 or not (is_sure or _CHAIN_OF_TIMES.match(text, match.end())):
            continue
        if SIGN_BEFORE.search(text, max(match.start() - 2, 0), match.start()):  # a price, after which a model may write "Uhr" too
            continue
        minutes = 60 * (hour % 12 if half else hour % 24) + minute + HALF_DAY * (half == "p")
        if not half and hour < 12 and _AFTERNOON_WORD.match(text, match.end()):
            minutes += HALF_DAY
        yield Quantity(match.start(), match.end(), match.group(), "time", minutes=minutes)


def written_time(minutes: int, own: Convention, language: str) -> str:
    """A time, in `minutes` after midnight, as `language` writes it."""
    hour, minute = divmod(minutes, 60)
    if own.clock == 12:
        return f"{(hour - 1) % 12 + 1}{own.time}{minute:02} {'ap'[hour >= 12].upper()}M"
    clock = f"{hour}{own.time}{minute:02}"
    return f"{clock} Uhr" if short_code(language) == "de" else clock


def with_written(text: str, parts: Collection[str], source: str, target: str) -> tuple[str, list[Span]]:
    """Return `text`, in the language `source`, with the quantities in `parts` as the language `target` writes them, and the offsets of all
    parts there.

    Quantities of languages that are not known here stay as they are, and so do numbers of other kinds, such as dates.
    """
    pattern = "|".join(map(re.escape, sorted(parts, key=len, reverse=True)))
    return written_in(text, [match.span() for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text)], (source, target))


def written_in(text: str, spans: Sequence[Span], languages: Languages) -> tuple[str, list[Span]]:
    """Return `text` with the quantities in `spans`, which are in order, as the second of the `languages` writes them, and the offsets
    of the spans there.
    """
    quantities = find_quantities(text, languages[0])
    starts = [quantity.start for quantity in quantities]
    pieces, moved, position, length = [], list[Span](), 0, 0
    for start, end in spans:
        inside = quantities[bisect_left(starts, start) : bisect_left(starts, end)]
        edits = [as_written(text, quantity, (start, end), languages[1]) for quantity in inside if quantity.end <= end]
        shown = apply_edits(text[start:end], [each._replace(start=each.start - start, end=each.end - start) for each in edits])
        pieces += [text[position:start], shown]
        length += start - position + len(shown)
        moved.append((length - len(shown), length))
        position = end
    return "".join([*pieces, text[position:]]), moved


def with_percent(number: str, own: Convention) -> str:
    """A number with its percent sign."""
    return own.percent.replace("#", number)


def as_written(text: str, quantity: Quantity, span: Span, language: str) -> Edit:
    """The change of a quantity in a span of `text` to what `language` writes; if the sign of a price is in the span, too, with it."""
    own, amount = convention(language), written(quantity, language)
    before = SIGN_BEFORE.search(text, max(quantity.start - 2, span[0]), quantity.start)
    after = SIGN_AFTER.match(text, quantity.end, span[1])
    if own is None or not (before or after):
        return Edit(quantity.start, quantity.end, quantity.text, amount)
    start, end = before.start(1) if before else quantity.start, after.end() if after and not before else quantity.end
    return Edit(start, end, text[start:end], with_sign(amount, quantity.sign, own))
