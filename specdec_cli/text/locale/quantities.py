"""Numbers, labels, prices and times: where they are in a text, how a language writes them, and what stands for them in a translation."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.conventions import Convention, convention
from specdec_cli.text.locale.languages import is_function_word, short_code
from specdec_cli.text.locale.numbers import lost_numbers, word_values
from specdec_cli.text.protect.spans import protected_spans

Span = tuple[int, int]
Languages = tuple[str, str]
"""The codes of the languages of a source and its translation; "" if unknown."""
_LEAST_DIGITS = 3
"""Numbers with fewer digits are not long: translations may write them as words or leave them out."""
CURRENCIES = "$\u20ac\u00a3\u00a5\u20b9"
"""Signs of currencies that stand before or after amounts."""
_CURRENCY_NAMES = {
    "$": r"[Dd]ollars?|d\u00f3lares|dollari",
    "\u20ac": "[Ee]uros?",
    "\u00a3": r"[Pp]ounds?|Pfund|livres|libras",
    "\u00a5": "[Yy]en",
}
_SIGN_BEFORE, _SIGN_AFTER = re.compile(rf"([{CURRENCIES}])[ \u00a0]?$"), re.compile(rf"[ \u00a0]?([{CURRENCIES}])")
_NO_TEXT = "\uffff"
_THIN = "\u2009\u00a0\u202f"
_DIGIT = "[0-9]"
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
    re.compile(rf"[\w.{_NO_TEXT}][-+~]$|[^\W\d_]/$"),
    re.compile(r"(?!x\d)[A-Za-z]+\d|[A-Za-z]{4}|[A-Z]{3}|(?!x)[a-z]-\d|\.x"),
)
"""What is directly before or after the numbers of versions: 8.12.3-6.6, 3.1r8, 4.4BSD, 2.12p-8; not the x of 7.62x39."""
_VERSION_AFTER = re.compile(
    r"\s(?:LTS|CDs?|DVDs?|kernels?|series|branch|releases?|versions?|r\d"
    r"|(?:and|or) (?:later|newer|above|higher|earlier|older|up))\b|(?:ad|ac|ax|er)\b"
)
"""What is after the numbers of versions and standards: 2.6 kernel, 4.9 or later, 802.3ad."""
_NAMED = re.compile(r"(?P<inside>(?<=[\w,;)] ))?\b(?P<word>[^\W\d_a-z][\w.+-]*)\s$")
"""A word with a capital, which may be a name with a number after it."""
_BEGINNING = re.compile(
    r"(?:add|use|take|buy|about|over|under|above|below|only|nearly|almost|roughly|around|some|up|give|pay|save|wait|walk|run|drive|mix|set|get"
    r"|between|within|after|before|since|until|every|each|another|these|those|than|per|more|less|rent|sales|profits?|prices?|costs?)$",
    re.IGNORECASE,
)
"""Words at the beginning of a sentence that are no names with a number after them, beside function words."""
_UNIT = re.compile(
    r"\s?(?:[%\u2030\u00b0\u2032\u2033$\u20ac\u00a3]|(?-i:(?:[kcm\u00b5dhMGT]?(?:m|g|l|L|B|b|W|A|V|J|N|Hz|Pa|bit|t)"
    r"|ft|yd|mi|lbs?|oz|ha|s|h|min|K|C|F|x)(?!\w)))|[A-Za-z]{1,3}(?!\w)|-[a-z]"
    r"|\s(?:percent|per|hundred|thousand|million|billion|trillion|degrees?|(?:kilo|centi|milli|mega|giga)?(?:met(?:re|er)|gram|lit(?:re|er)|byte|watt"
    r"|hertz|tonne)s?|tons?|inch(?:es)?|f(?:ee|oo)t|miles?|yards?|pounds?|ounces?|gallons?|(?:second|minute|hour|day|week|month|year|time)s?"
    r"|people|points?|dollars?|euros?|cents?|kmh|mph|kcal|calories|volts?|bar|stars?|goals?)\b",
    re.IGNORECASE,
)
_CHAIN = re.compile(r"\s?[,;]?\s?(?:(?:and|or|to|not|but not|instead of|rather than|than|und|oder|bis|nicht)\s|[-\u2013]\s?)?")
_HALF_AFTER_24 = r"(?:\s?(?P<half>(?-i:A(?=M\b)|P(?=M\b))|[ap](?=\.\s?m\.)|p(?=m\b))\.?\s?m\.?)"
"""The same in a language where "am" is a word."""
_HALF = r"(?:\s?(?P<half>[ap])\.?\s?m\b(?:\.(?!\s*$|[\"'\u201d)]|\s+(?-i:[A-Z])))?)"
_HOUR = rf"(?<![\w:])(?<!\d[.,])(?P<hour>{_DIGIT}{{1,2}})"
_NOT_MORE = r"(?![\d:])(?![.,]\d)"
_ENGLISH_TIME = re.compile(
    rf"{_HOUR}(?:[:.](?P<minute>{_DIGIT}\d))?{_HALF}|{_HOUR.replace('hour', 'hour2')}:(?P<minute2>{_DIGIT}\d){_NOT_MORE}", re.IGNORECASE
)
_RANGE_START = re.compile(rf"{_HOUR}(?::(?P<minute>{_DIGIT}\d))?\s*(?:to|and|or|until|till|-|\u2013)\s*$", re.IGNORECASE)
_OTHER_TIME = re.compile(
    rf"{_HOUR}(?:(?P<separator>[:.]|\s?h\s?)(?P<minute>{_DIGIT}\d){_NOT_MORE}(?P<mark>\s?Uhr\b|\s?h\b)?|(?P<mark2>\s?Uhr\b|\s?h\b)){_HALF_AFTER_24}?"
    rf"|{_HOUR.replace('hour', 'hour2')}{_HALF_AFTER_24.replace('half', 'half2')}",
    re.IGNORECASE,
)
_AFTERNOON_WORD = re.compile(r"\s(?:nachmittags|abends|am (?:Nachmittag|Abend)|in der Nacht|nachts)\b")
_DOUBLE_MARK = re.compile(r"(\d Uhr)(?: Uhr)+\b")
_MARK_OF_TIME = re.compile(r" Uhr\b")
_DIGITS = re.compile(rf"(?<!\w){_DIGIT}+(?:[.,'{_THIN}]{_DIGIT}+)*(?!\d)")
"""A number of an output, in any form."""
_HALF_DAY, _DAY = 12 * 60, 24 * 60
_NOON_WORDS = re.compile(r"\b(?:mittags?|mitternacht|noon|midnight|midi|minuit|mediod\u00eda|medianoche)\b", re.IGNORECASE)


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


@lru_cache(maxsize=64)
def find_quantities(text: str, language: str) -> tuple[Quantity, ...]:
    """The quantities of a text in `language`, in order, outside of protected spans; none if the language has no known convention."""
    own = convention(language)
    if own is None or not any(map(str.isdecimal, text)):
        return ()
    shown = _hidden(text, _protected(text, own))
    times = list(_times(shown, own))
    numbers: list[Quantity] = []
    for found in _number_pattern(own).finditer(_hidden(shown, [(time.start, time.end) for time in times])):
        numbers.append(_quantity(shown, found, own, numbers[-1] if numbers else None))
    return tuple(sorted([*times, *numbers], key=lambda each: each.start))


def written(quantity: Quantity, language: str) -> str:
    """A quantity as `language` writes it; a label, and a quantity for a language without a known convention, as it is."""
    own = convention(language)
    if own is None or quantity.kind == "label":
        return quantity.text
    if quantity.kind == "time":
        return _written_time(quantity.minutes, own, language) if quantity.exact else quantity.text
    digits = f"{int(quantity.digits):,}".replace(",", own.group) if quantity.grouped else quantity.digits
    return digits + (own.decimal + quantity.fraction if quantity.fraction else "")


def realise(source: str, output: str, languages: Languages) -> str:
    """Return `output`, the translation of `source`, with the quantities of the source as the target language writes them.

    A number of the output with the digits of one of the source, but another value, is written anew; so is a time that is twelve hours
    off. If the amounts of all prices are there, each gets its sign, and signs that belong to no price are left out.
    """
    wanted = find_quantities(source, languages[0])
    if not wanted or convention(languages[1]) is None or languages[0] == languages[1]:
        return output
    matching = _Matching(output, languages[1])
    matching.match(wanted)
    return matching.text(wanted)


def repaired(source: str, target: str, languages: Languages) -> str:
    """Return `target`, a translation of `source` that a person wrote, with the numbers that it has as in the source written as the target
    language does, and so the times with a.m. or p.m. for a language with a clock of 24 hours.

    Numbers that differ otherwise stay, and so do labels, signs of currencies, decimals without a unit, which may be versions, and
    numbers with three digits after a point, which may be thousands or decimals.
    """
    own, wanted = convention(languages[1]), find_quantities(source, languages[0])
    if not wanted or own is None or languages[0] == languages[1]:
        return target
    matching = _Matching(target, languages[1])
    matching.match(wanted)
    changes = [
        Edit(start, end, target[start:end], text)
        for start, end, quantity, text in sorted(matching.taken, key=lambda each: each[0])
        if _is_as_in_source(quantity, target[start:end], own)
        and (not quantity.fraction or _UNIT.match(source, quantity.end) or _UNIT.match(target, end))
    ]
    return apply_edits(target, changes)


def _is_as_in_source(quantity: Quantity, text: str, own: Convention) -> bool:
    """Whether the text of a quantity in a target is that of the source, or a time of the clock that the target language does not use."""
    if quantity.kind == "time":
        return own.clock == 24 and quantity.exact and quantity.text[-1:] in ".mM"
    return quantity.kind != "label" and text == quantity.text and not re.fullmatch(r"\d+\.\d{3}", text)


def without_double_marks(text: str) -> str:
    """Return `text` with one "Uhr" after a time that has two."""
    return _DOUBLE_MARK.sub(r"\1", text)


def _protected(text: str, own: Convention) -> list[Span]:
    """The protected spans of a text that are no numbers, as 1.234.567 is one in German and 12345 in all languages."""
    return [span for span in protected_spans(text) if not _number_pattern(own).fullmatch(text, *span)]


def _hidden(text: str, spans: Sequence[Span]) -> str:
    """`text` with a character that is in no quantity in the place of those of `spans`."""
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], _NO_TEXT * (end - start)]
        position = end
    return "".join([*pieces, text[position:]])


def _times(text: str, own: Convention) -> Iterator[Quantity]:
    return _english_times(text) if own.clock == 12 else _other_times(text)


@cache
def _number_pattern(own: Convention) -> re.Pattern[str]:
    group = f"[{re.escape(own.group)}{_THIN}{' ' * own.group.isspace()}]"
    decimal = re.escape(own.decimal)
    return re.compile(
        rf"(?<!\w)(?<!\d[.,:/'])(?<![a-z],)(?:(?P<groups>(?!0){_DIGIT}{{1,3}}(?:{group}{_DIGIT}{{3}})+)|(?P<digits>{_DIGIT}+))(?:{decimal}(?P<fraction>{_DIGIT}+))?"
        r"(?!\d)(?![.,:/']\d)"
    )


def _quantity(text: str, found: re.Match[str], own: Convention, before: Quantity | None) -> Quantity:
    """The number, label or price that a match of the pattern of numbers is; `before` is the one before it."""
    digits, fraction = re.sub(r"\D", "", found["groups"] or found["digits"]), found["fraction"] or ""
    before_sign, after_sign = _SIGN_BEFORE.search(text, max(found.start() - 2, 0), found.start()), _SIGN_AFTER.match(text, found.end())
    sign = before_sign[1] if before_sign else after_sign[1] if after_sign else ""
    kind: Literal["number", "label", "price"] = "price" if sign else "number"
    is_point = text[found.start() - 1 : found.start()] + text[found.end() : found.end() + 1] == "()" and len(found.group()) == 3
    if fraction and not found["groups"] and not sign and (is_point if own.decimal != "." else _is_label(text, found, before)):
        kind = "label"
    return Quantity(found.start(), found.end(), found.group(), kind, digits, fraction, found["groups"] is not None, sign)


def _is_label(text: str, found: re.Match[str], before: Quantity | None) -> bool:
    """Whether a number with a point names something, as in "version 1.5", "Windows 8.1" and "sections 4.2 and 4.3"."""
    if _VERSION_AFTER.match(text, found.end()):
        return True
    if _GLUED_AFTER.match(text, found.end()) or _GLUED_BEFORE.search(text, max(found.start() - 2, 0), found.start()):
        return before is None or before.end != found.start() - 1 or before.kind != "number"
    if _UNIT.match(text, found.end()):
        return False
    if before is not None and before.kind == "label" and _CHAIN.fullmatch(text, before.end, found.start()):
        return True
    left = text[max(found.start() - 40, 0) : found.start()]
    if _LABEL.search(left):
        return True
    named = _NAMED.search(left)
    if named is None:
        return False
    return named["inside"] is not None or not (_BEGINNING.match(named["word"]) or is_function_word(named["word"], "en"))


def _english_times(text: str) -> Iterator[Quantity]:
    """The times of a text in a language with a clock of 12 hours."""
    for found in _ENGLISH_TIME.finditer(text):
        half = (found["half"] or "").lower()
        hour, minute = int(found["hour"] or found["hour2"]), int(found["minute"] or found["minute2"] or 0)
        if minute > 59 or hour > (12 if half else 23) or (half and not hour):
            continue
        start = _RANGE_START.search(text, max(found.start() - 20, 0), found.start()) if half else None
        if start is not None and 1 <= int(start["hour"]) <= 12 and int(start["minute"] or 0) <= 59:
            begin = 60 * (int(start["hour"]) % 12) + int(start["minute"] or 0)
            later = begin <= 60 * (hour % 12) + minute
            other = half if later else "ap"[half == "a"]
            end = start.end("minute") if start["minute"] else start.end("hour")
            yield _time_at(text, start.start(), end, begin, other)
        yield _time_at(text, *found.span(), 60 * (hour % 12 if half else hour) + minute, half)


def _time_at(text: str, start: int, end: int, minutes: int, half: str) -> Quantity:
    minutes += _HALF_DAY * (half == "p")
    exact = bool(half) or minutes < 60 or minutes >= _HALF_DAY + 60
    return Quantity(start, end, text[start:end], "time", minutes=minutes, exact=exact)


def _other_times(text: str) -> Iterator[Quantity]:
    """The times of a text in a language with a clock of 24 hours."""
    for found in _OTHER_TIME.finditer(text):
        half = (found["half"] or found["half2"] or "").lower()
        hour, minute = int(found["hour"] or found["hour2"]), int(found["minute"] or 0)
        if minute > 59 or hour > 24 or (found["separator"] == "." and not (found["mark"] or half)):
            continue
        if _SIGN_BEFORE.search(text, max(found.start() - 2, 0), found.start()):  # a price, after which a model may write "Uhr" too
            continue
        minutes = 60 * (hour % 12 if half else hour % 24) + minute + _HALF_DAY * (half == "p")
        if not half and hour < 12 and _AFTERNOON_WORD.match(text, found.end()):
            minutes += _HALF_DAY
        yield Quantity(found.start(), found.end(), found.group(), "time", minutes=minutes)


def _written_time(minutes: int, own: Convention, language: str) -> str:
    hour, minute = divmod(minutes, 60)
    if own.clock == 12:
        return f"{(hour - 1) % 12 + 1}{own.time}{minute:02} {'ap'[hour >= 12].upper()}M"
    clock = f"{hour}{own.time}{minute:02}"
    return f"{clock} Uhr" if short_code(language) == "de" else clock


class _Matching:
    """Which quantities of an output stand for those of a source, and the output with these written anew."""

    def __init__(self, output: str, language: str) -> None:
        own = convention(language)
        assert own is not None
        self._output, self._language, self._own = output, language, own
        shown = _hidden(output, _protected(output, own))
        self._by_minutes = defaultdict[int, deque[Quantity]](deque)
        self._by_text, self._by_value, self._by_digits = (defaultdict[Hashable, deque[re.Match[str]]](deque) for _ in range(3))
        times = list(_times(shown, own))
        for time in times:
            self._by_minutes[time.minutes if time.exact else -1 - time.minutes].append(time)
        for number in _DIGITS.finditer(_hidden(shown, [(time.start, time.end) for time in times])):
            self._by_text[number.group()].append(number)
            self._by_value[self._value(number)].append(number)
            self._by_digits[re.sub(r"\D", "", number.group())].append(number)
        self._used = set[int]()
        self.taken: list[tuple[int, int, Quantity, str]] = []
        self.lost: list[Quantity] = []

    def match(self, wanted: Sequence[Quantity], *, any_form: bool = True) -> None:
        """Find what stands for each of the quantities: with `any_form` numbers with the same digits, too, and times that are twelve hours
        off. Those for which nothing does are `lost`.
        """
        steps = (self._same_value, self._same_digits, self._same_hour) if any_form else (self._same_value, self._same_hour)
        left = sorted(wanted, key=lambda each: -len(each.digits))
        for step in steps:
            left = [quantity for quantity in left if not step(quantity)]
        words = word_values(self._output) if left else Counter[str]()
        for quantity in left:
            noon = quantity.minutes % _HALF_DAY == 0 and _NOON_WORDS.search(self._output)
            if quantity.kind != "time" and not quantity.fraction and words[quantity.digits] > 0:
                words[quantity.digits] -= 1
            elif not noon:
                self.lost.append(quantity)

    def text(self, wanted: Sequence[Quantity]) -> str:
        """The output with the quantities that were found as the language writes them."""
        signs = {quantity.sign for quantity in wanted if quantity.sign}
        if signs and not any(quantity.sign for quantity in self.lost):
            changes = self._with_signs(signs)
        else:
            changes = [(start, end, text) for start, end, _, text in self.taken]
        pieces, position = [], 0
        for start, end, text in sorted(changes):
            pieces += [self._output[position:start], text]
            position = end
        return "".join([*pieces, self._output[position:]])

    def _with_signs(self, signs: set[str]) -> list[tuple[int, int, str]]:
        """The changes of the output, with the sign of each price beside its amount, and without other signs of the same currencies."""
        used, made = set[int](), list[tuple[int, int, str]]()
        for start, end, quantity, text in sorted(self.taken, key=lambda each: each[0]):
            before, after = _SIGN_BEFORE.search(self._output, max(start - 2, 0), start), _SIGN_AFTER.match(self._output, end)
            places = [found.start(1) for found in (before, after) if found and found[1] == quantity.sign and found.start(1) not in used]
            named = quantity.sign and re.compile(rf"\s?-?(?:{_CURRENCY_NAMES.get(quantity.sign, '(?!)')})").match(self._output, end)
            if quantity.sign and not places and not named:
                text = self._own.price.replace("#", text).replace("\u00a4", quantity.sign)
            used.update(places[:1])
            mark = _MARK_OF_TIME.match(self._output, end) if quantity.sign else None
            made.append((start, mark.end() if mark else end, text))
        shown = _hidden(self._output, _protected(self._output, self._own))
        for place, character in enumerate(shown):
            if character in signs and place not in used:
                is_spaced = self._output[place - 1 : place].isspace() and not self._output[place + 1 : place + 2].isalnum()
                made.append((place - is_spaced, place + 1, ""))
        return made

    def _same_value(self, quantity: Quantity) -> bool:
        """Take a number of the same value, or a time of the same minutes."""
        if quantity.kind == "time":
            later = (quantity.minutes + _HALF_DAY) % _DAY
            keys = (
                [quantity.minutes] if quantity.exact else [minutes for each in (quantity.minutes, later) for minutes in (each, -1 - each)]
            )
            if self._own.clock == 12 and quantity.minutes < _HALF_DAY:
                keys.append(-1 - quantity.minutes)  # a time before noon needs no a.m.
            time = self._free_time(keys)
            return time is not None and self._take(time.start, time.end, quantity, self._without_half(time))
        number = self._free(self._by_text[quantity.text] if quantity.kind == "label" else self._by_value[quantity.value])
        return number is not None and self._take(*number.span(), quantity, number.group())

    def _same_digits(self, quantity: Quantity) -> bool:
        """Take a number with the same digits, or a time that is twelve hours off; it is written anew."""
        if quantity.kind == "time":
            later = (quantity.minutes + _HALF_DAY) % _DAY
            time = self._free_time([-1 - quantity.minutes, later, -1 - later])
            return time is not None and self._take(time.start, time.end, quantity, self._at(time, quantity.minutes))
        number = self._free(self._by_digits[quantity.digits + quantity.fraction]) if quantity.grouped or quantity.fraction else None
        return number is not None and self._take(*number.span(), quantity, written(quantity, self._language))

    def _same_hour(self, quantity: Quantity) -> bool:
        """Take a number without a sign of time that is the hour of a time: both ends of a range may have one sign."""
        if quantity.kind != "time" or quantity.minutes % 60:
            return False
        hour = quantity.minutes // 60
        for each in dict.fromkeys((hour, (hour + 12) % 24, hour or 12)):
            number = self._free(self._by_value[str(each or ""), ""])
            if number is not None:
                text = str(hour) if quantity.exact and self._own.clock == 24 else number.group()
                return self._take(*number.span(), quantity, text)
        return False

    def _free(self, numbers: deque[re.Match[str]]) -> re.Match[str] | None:
        """The first of `numbers` that is not taken."""
        while numbers and numbers[0].start() in self._used:
            numbers.popleft()
        return numbers[0] if numbers else None

    def _free_time(self, keys: Iterable[int]) -> Quantity | None:
        """The first time with one of the `keys`: minutes, or less than 0 for a time that may be twelve hours later."""
        for times in (self._by_minutes[key] for key in keys):
            if times:
                return times.popleft()
        return None

    def _take(self, start: int, end: int, quantity: Quantity, text: str) -> bool:
        self._used.add(start)
        self.taken.append((start, end, quantity, text))
        return True

    def _value(self, number: re.Match[str]) -> tuple[str, str] | None:
        found = _number_pattern(self._own).fullmatch(number.group())
        if found is None:
            return None
        return re.sub(r"\D", "", found["groups"] or found["digits"]).lstrip("0"), (found["fraction"] or "").rstrip("0")

    def _without_half(self, time: Quantity) -> str:
        """A time of the output without a.m. or p.m. if the clock has 24 hours."""
        found = re.fullmatch(rf"(.*?){_HALF_AFTER_24}", time.text, re.IGNORECASE) if self._own.clock == 24 else None
        return _written_time(time.minutes, self._own, self._language) if found else time.text

    def _at(self, time: Quantity, minutes: int) -> str:
        """A time of the output, written in the same way, at other `minutes`."""
        if self._own.clock == 12:
            return _written_time(minutes, self._own, self._language)
        text = self._without_half(time)
        hour = f"{minutes // 60:02}" if text.startswith("0") else f"{minutes // 60}"
        return re.sub(r"^\d+", hour, text)


def lost_long_numbers(source: str, output: str, languages: Languages = ("", "")) -> list[str]:
    """The numbers of `source` with at least three digits that `output` lacks (see `lost_numbers`), and its prices and times with a.m. or
    p.m. whose value it lacks.
    """
    numbers = [number for number in lost_plain_numbers(source, output, languages) if ":" not in number and _is_long(number)]
    values = lost_values(source, output, languages)
    return numbers + [each.text for each in values if each.kind in ("price", "time") or _is_long(each.text)]


def lost_plain_numbers(source: str, output: str, languages: Languages) -> list[str]:
    """The numbers of `source` that `output` lacks (see `lost_numbers`), without those of times that `lost_values` judges: 17.30 Uhr may
    have become 5:30 p.m.
    """
    lost = lost_numbers(source, output)
    if not lost or convention(languages[1]) is None:
        return lost
    times = [each.text for each in find_quantities(source, languages[0]) if each.kind == "time" and each.exact]
    return [number for number in lost if not any(number in time for time in times)]


def _is_long(number: str) -> bool:
    return sum(map(str.isdecimal, number)) >= _LEAST_DIGITS


def lost_values(source: str, output: str, languages: Languages) -> list[Quantity]:
    """The quantities of `source` whose value `output` lacks: numbers with separators, prices, labels, and times with a.m. or p.m.

    None if the convention of one of the `languages`, those of both texts, is unknown.
    """
    wanted = find_quantities(source, languages[0])
    if not wanted or convention(languages[1]) is None:
        return []
    matching = _Matching(output, languages[1])
    matching.match(wanted, any_form=False)
    lost = sorted(matching.lost, key=lambda each: each.start)
    return [each for each in lost if (each.exact if each.kind == "time" else each.sign or each.fraction or each.grouped)]


def with_written(text: str, parts: Collection[str], source: str, target: str) -> tuple[str, list[Span]]:
    """Return `text`, in the language `source`, with the quantities in `parts` as the language `target` writes them, and the offsets of all
    parts there.

    Quantities of languages that are not known here stay as they are, and so do numbers of other kinds, such as dates.
    """
    pattern = "|".join(map(re.escape, sorted(parts, key=len, reverse=True)))
    return written_in(text, [found.span() for found in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text)], (source, target))


def written_in(text: str, spans: Sequence[Span], languages: Languages) -> tuple[str, list[Span]]:
    """Return `text` with the quantities in `spans`, which are in order, as the second of the `languages` writes them, and the offsets
    of the spans there.
    """
    quantities = find_quantities(text, languages[0])
    starts = [quantity.start for quantity in quantities]
    pieces, moved, position, length = [], list[Span](), 0, 0
    for start, end in spans:
        inner, begin = [text[position:start]], start
        for quantity in quantities[bisect_left(starts, start) : bisect_left(starts, end)]:
            if quantity.end <= end:
                inner += [text[begin : quantity.start], written(quantity, languages[1])]
                begin = quantity.end
        pieces += [*inner, text[begin:end]]
        length += sum(map(len, pieces[-len(inner) - 1 :]))
        moved.append((length - sum(map(len, inner[1:])) - (end - begin), length))
        position = end
    return "".join([*pieces, text[position:]]), moved
