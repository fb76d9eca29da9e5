"""What stands for the numbers, prices and times of a text in its translation: which it lacks, and how its language writes them."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from specdec_cli.text.edits import Edit, Span, apply_edits
from specdec_cli.text.locale.amounts import lost_currencies, lost_scales, with_scales
from specdec_cli.text.locale.languages import (
    CURRENCIES,
    LATER_WORDS,
    MULTIPLIER,
    NOON_WORDS,
    NUMBER_WORDS,
    any_currency_name,
    convention,
    half_of_day,
)
from specdec_cli.text.locale.quantities import (
    HALF_DAY,
    PERCENT,
    SIGN_AFTER,
    SIGN_BEFORE,
    Languages,
    Quantity,
    find_quantities,
    find_times,
    has_digits,
    unprotected,
    value_of,
    with_percent,
    with_sign,
    written,
    written_time,
)
from specdec_cli.text.marks import THIN_SPACES
from specdec_cli.text.protect.spans import hidden

_LEAST_DIGITS = 3
"""Numbers with fewer digits are not long: translations may write them as words or leave them out."""
_CURRENCY_NAMES = {sign: re.compile(rf"\s?-?(?:{any_currency_name(sign)})", re.IGNORECASE) for sign in CURRENCIES}
"""The names of currencies after an amount."""
_DOUBLE_MARK = re.compile(r"(\d Uhr)(?: Uhr)+\b")
_RANGE_OF_TIMES = re.compile(r"(\d) Uhr(\s?[-\u2013]\s?\d{1,2}(?::\d\d)? Uhr\b)")
_DASH_OF_TIMES = re.compile(r"(?:Uhr|[AaPp]\.?[Mm]\.?)(\s?[-\u2013]\s?)\d{1,2}(?:[:.]\d\d)? ?(?:Uhr|[AaPp]\.?[Mm])\b")
_TIMES_WITHOUT_DASH = re.compile(r"(?:(?<=[AP]M)|(?<=Uhr)),? (?=\d{1,2}(?::\d\d)? (?:[AP]M|Uhr)\b)")
_FREE_NUMBER = re.compile(r"(?<![\w.,])\d+(?=\s)")
_STUCK = re.compile(
    r"(?<![\w.,])\d+(?=[a-z\u00e4\u00f6\u00fc\u00df]{3})(?!(?:st[en]|nd|rd|th|er|mal|fach|te[nrs]?\b|j\u00e4hr|st\u00fcnd|t\u00e4g|w\u00f6ch|monat|min|prozent))"
)
"""A number to which a word sticks, other than with endings such as in "3fach" and "8j\u00e4hrig"."""
_GOES_ON = re.compile(rf"-|\w|{MULTIPLIER.pattern}", re.IGNORECASE)
"""What is after an amount that goes on, as in $5-Schein, so that its sign stays before it."""
_HALF = re.compile(rf"(?P<clock>.*?)(?P<space>\s?){half_of_day()}\.?", re.IGNORECASE)
"""A time with a.m. or p.m."""
_HALF_AFTER = re.compile(rf"\s?{half_of_day()}\b(?:\.(?!\s*$))?|\s?Uhr\b|\s?o['\u2019]clock\b", re.IGNORECASE)
"""What a model may write after an hour of the clock of 24 hours."""
HalfForm = tuple[str, str, bool]
"""How a.m. and p.m. are written: the space before them, the full stop after the first letter, and whether they are capitals."""
_USUAL_FORM: HalfForm = (" ", "", True)
_MINUTES_OF_HOUR = re.compile(rf"(?<=\d):00(?=\s?{half_of_day()}(?!\w))", re.IGNORECASE)
_BARE_HOUR = re.compile(rf"(?<![\w.:,])\d{{1,2}}\s?{half_of_day()}(?!\w)", re.IGNORECASE)
_MARK_OF_TIME = re.compile(r" Uhr\b")
_DAY = 24 * 60
_NUMBER = re.compile(rf"(?<!\w)(?<!\d:)[0-9]+(?:[.,'{THIN_SPACES}][0-9]+)*(?!:?\d)")
"""A number that is no part of a word, in any form."""
_GROUPED = re.compile(rf"\d{{1,3}}(?:[.,' {THIN_SPACES}]\d{{3}})+(?!\d)")
_DIGITS = re.compile(rf"(?<!\d){_GROUPED.pattern}(?![.,:]?\d)|\d+(?:[.,:'{THIN_SPACES}]\d+)*")
"""Digits with what may be between those of a number, also in dates, protected spans and words, whatever the language is."""
_JOINED = re.compile(r"(?<![\w.,:/-])\d+(?:(?:-\d+)+| \d/\d)(?![\w-]|[.,:/]\d)")
"""Numbers joined by hyphens, as in the number of an order, and a mixed fraction (1 1/2)."""
_AT, _OCLOCK = re.compile(r"\bat $"), re.compile(r" ?o?['\u2019]? ?clock\b", re.IGNORECASE)
"""What is before or after a number that is a time, after noon or not."""
_HOUR_ALONE = re.compile(
    rf"\bat (?P<hour>\d{{1,2}})(?=[.,;!?]?(?:$|\s(?!percent|per|{half_of_day()}\b)))"
    r"|(?<![\w:.,])(?P<hour2>\d{1,2}) ?o['\u2019]?clock\b",
    re.IGNORECASE,
)
"""An hour without minutes that may be twelve hours later."""
_LATER = re.compile(rf"\b(?:{half_of_day()}|{LATER_WORDS})\b", re.IGNORECASE)
_MOST_PLACES = 256
"""How many places of the same digits are tried for a number; this limits the time for a line with many numbers."""
_DATE = 3
"""Numbers with at least this many parts, such as the date 12.05.2020, may have their parts in another order in the output."""
_LETTERS = re.compile(r"\w+ty-\w+|\w+")


def realise(source: str, output: str, languages: Languages) -> str:
    """Return `output`, the translation of `source`, with the quantities of the source as the target language writes them.

    A number of the output with the digits of one of the source, but another value, is written anew; so is a time that is twelve hours
    off. English has a.m. and p.m. in one form. If the amounts of all prices are there, each gets its sign, on the side where the language
    has it, and signs that belong to no price are left out. A time without a.m. or p.m. keeps its hour, unless the source says that it is
    after noon. Words such as "million" fit their amounts (see `with_scales`).
    """
    wanted = find_quantities(source, languages[0])
    if not wanted or convention(languages[1]) is None or languages[0] == languages[1]:
        return output
    is_later = _LATER.search(source) is not None
    matching = Matching(output, languages[1], is_later=is_later)
    matching.match(wanted)
    if not is_later:
        matching.take_hours(source)
    matching.take_words(_word_values(output))
    return with_scales(source, _with_even_hours(matching.text(wanted, source)), languages)


def _with_even_hours(output: str) -> str:
    """Return `output` without the minutes of full hours with a.m. or p.m., if it has one without minutes, as in "9 AM to 6:00 PM"."""
    return _MINUTES_OF_HOUR.sub("", output) if _MINUTES_OF_HOUR.search(output) and _BARE_HOUR.search(output) else output


def tidied_numbers(source: str, output: str) -> str:
    """Return `output`, the translation of `source`, with one "Uhr" after a time or a range of times with a dash, with the dash of a range
    of times, and with a space after each number that a word sticks to, but not in the source, as in "1frei".
    """
    if not has_digits(output):
        return output
    free = {found.group() for found in _FREE_NUMBER.finditer(source)}
    output = _STUCK.sub(lambda found: f"{found.group()} " if found.group() in free else found.group(), output)
    dashes = _DASH_OF_TIMES.findall(source)
    if (missing := len(dashes) - len(_DASH_OF_TIMES.findall(output))) > 0:
        output = _TIMES_WITHOUT_DASH.sub(dashes[0], output, count=missing)
    return _RANGE_OF_TIMES.sub(r"\1\2", _DOUBLE_MARK.sub(r"\1", output))


class Matching:
    """Which quantities of an output stand for those of a source, and the output with these written anew.

    With `is_later`, times without a.m. or p.m. may be after noon.
    """

    def __init__(self, output: str, language: str, *, is_later: bool = True) -> None:
        own = convention(language)
        assert own is not None
        self._output, self._language, self._own, self._is_later = output, language, own, is_later
        shown = unprotected(output, own)
        self._by_minutes = defaultdict[int, deque[Quantity]](deque)
        self._by_text, self._by_value, self._by_digits = (defaultdict[Hashable, deque[re.Match[str]]](deque) for _ in range(3))
        times = list(find_times(shown, own))
        for time in times:
            self._by_minutes[time.minutes if time.exact else -1 - time.minutes].append(time)
        self._form = _form_of([time.text for time in times])
        for number in _NUMBER.finditer(hidden(shown, [(time.start, time.end) for time in times])):
            self._by_text[number.group()].append(number)
            self._by_value[value_of(number.group(), own)].append(number)
            self._by_digits[re.sub(r"\D", "", number.group())].append(number)
        self._used = set[int]()
        self.taken: list[tuple[int, int, Quantity, str]] = []
        self.lost: list[Quantity] = []

    def match(self, wanted: Sequence[Quantity], *, any_form: bool = True) -> None:
        """Find what stands for each of the quantities: with `any_form` numbers with the same digits, too, and times that are twelve hours
        off. Those for which nothing does are `lost`.
        """
        steps = (self._same_value, self._same_digits, self._same_hour) if any_form else (self._same_value, self._same_hour)
        self.lost = sorted(wanted, key=lambda each: -len(each.digits))
        for step in steps:
            self.lost = [quantity for quantity in self.lost if not step(quantity)]

    def take_words(self, words: Counter[str]) -> None:
        """Look for the quantities in `lost` among the `words` for numbers and for noon. Those that are found are no longer lost, and each
        word is used for one quantity only: it is removed from `words`.
        """
        left, self.lost = self.lost, []
        for quantity in left:
            if quantity.kind == "time":
                is_there = quantity.minutes % HALF_DAY == 0 and NOON_WORDS.search(self._output) is not None
            else:
                is_there = not quantity.fraction and _take_word(words, {quantity.digits})
            if not is_there:
                self.lost.append(quantity)

    def text(self, wanted: Sequence[Quantity], source: str) -> str:
        """The output with the quantities of the `source` that were found as the language writes them."""
        self._fit_marks(source)
        signs = {quantity.sign for quantity in wanted if quantity.sign}
        if signs and not any(quantity.sign for quantity in self.lost):
            changes = self._with_signs(signs.union(CURRENCIES).difference(set(source) - signs))
        else:
            changes = [(start, end, text) for start, end, _, text in self.taken]
        return apply_edits(self._output, [Edit(start, end, self._output[start:end], text) for start, end, text in sorted(changes)])

    def _fit_marks(self, source: str) -> None:
        """Write percent signs that numbers have in both texts as the language does, and leave out "Uhr" after decimals."""
        for place, (start, end, quantity, text) in enumerate(self.taken):
            if quantity.kind != "number":
                continue
            percent = PERCENT.match(self._output, end) if PERCENT.match(source, quantity.end) else None
            mark = _MARK_OF_TIME.match(self._output, end) if quantity.fraction else None
            if percent:
                self.taken[place] = (start, percent.end(), quantity, with_percent(text, self._own))
            elif mark:
                self.taken[place] = (start, mark.end(), quantity, text)

    def _with_signs(self, signs: set[str]) -> list[tuple[int, int, str]]:
        """The changes of the output, with the sign of each price beside its amount, and without others of the `signs`."""
        used, made = set[int](), list[tuple[int, int, str]]()
        for start, end, quantity, text in sorted(self.taken, key=lambda each: each[0]):
            before, after = SIGN_BEFORE.search(self._output, max(start - 2, 0), start), SIGN_AFTER.match(self._output, end)
            places = [found.start(1) for found in (before, after) if found and found[1] == quantity.sign and found.start(1) not in used]
            named = quantity.sign and _CURRENCY_NAMES[quantity.sign].match(self._output, end)
            mark = _MARK_OF_TIME.match(self._output, end) if quantity.sign else None
            end = mark.end() if mark else end
            if quantity.sign and not named and (not places or self._is_on_other_side(places[0], start, end)):
                more = MULTIPLIER.match(self._output, end) if not places else None
                text, end = text + (more.group() if more else ""), more.end() if more else end
                text = with_sign(text, quantity.sign, self._own)
                start, end = min([start, *places[:1]]), max([end, *(place + 1 for place in places[:1])])
            used.update(places[:1])
            made.append((start, end, text))
        shown = unprotected(self._output, self._own)
        for place, character in enumerate(shown):
            if character in signs and place not in used:
                is_joined = self._output[place + 1 : place + 2].isalnum()
                made.append((place if is_joined else len(self._output[:place].rstrip()), place + 1, ""))
        return made

    def _is_on_other_side(self, place: int, start: int, end: int) -> bool:
        """Whether the sign at `place` is before the amount from `start` to `end`, and the language has it behind, or the opposite; not
        where sign or amount are parts of words.
        """
        is_before = place < start
        if is_before == (self._own.price[0] == "\u00a4"):
            return False
        if is_before:
            return not self._output[place - 1 : place].isalnum() and not _GOES_ON.match(self._output, end)
        return not self._output[place + 1 : place + 2].isalnum() and self._output[place + 1 : place + 2] != "-"

    def _same_value(self, quantity: Quantity) -> bool:
        """Take a number of the same value, or a time of the same minutes."""
        if quantity.kind == "time":
            later = (quantity.minutes + HALF_DAY) % _DAY
            keys = [quantity.minutes]
            if not quantity.exact:
                keys = [minutes for each in (quantity.minutes, later)[: 1 + self._is_later] for minutes in (each, -1 - each)]
            if self._own.clock == 12 and quantity.minutes < HALF_DAY + 60:
                keys.append(-1 - quantity.minutes)  # a time before one needs no a.m. or p.m.
            time = self._free_time(keys)
            return time is not None and self._take(time.start, time.end, quantity, self._as_usual(time))
        number = self._free(self._by_text[quantity.text]) if self._is_value_of(quantity) else None
        if number is None and quantity.kind != "label":
            number = self._free(self._by_value[quantity.value])
        return number is not None and self._take(*number.span(), quantity, number.group())

    def _is_value_of(self, quantity: Quantity) -> bool:
        """Whether the text of a number has the same value in the language of the output; that of a label always has."""
        return quantity.kind == "label" or (quantity.text in self._by_text and value_of(quantity.text, self._own) == quantity.value)

    def _same_digits(self, quantity: Quantity) -> bool:
        """Take a number with the same digits, or a time that is twelve hours off; it is written anew."""
        if quantity.kind == "time":
            later = (quantity.minutes + HALF_DAY) % _DAY
            time = self._free_time([-1 - quantity.minutes, later, -1 - later])
            if time is None:
                return self._as_number(quantity)
            return self._take(time.start, time.end, quantity, self._at(time, quantity.minutes))
        number = self._free(self._by_digits[quantity.digits + quantity.fraction]) if quantity.grouped or quantity.fraction else None
        return number is not None and self._take(*number.span(), quantity, written(quantity, self._language))

    def _as_number(self, quantity: Quantity) -> bool:
        """Take a number with the digits of a time with minutes, as in 9,30; it is written as a time."""
        hour, minute = divmod(quantity.minutes, 60)
        found = next((number for each in (f"{hour}", f"{hour:02}") if (number := self._free(self._by_digits[f"{each}{minute:02}"]))), None)
        if found is None or not re.fullmatch(r"\d\d?[.,]\d\d", found.group()):
            return False
        has_mark = _MARK_OF_TIME.match(self._output, found.end()) is not None
        is_plain = has_mark or not quantity.exact
        text = f"{hour}{self._own.time}{minute:02}" if is_plain else written_time(quantity.minutes, self._own, self._language)
        return self._take(*found.span(), quantity, text)

    def _same_hour(self, quantity: Quantity) -> bool:
        """Take a number without a sign of time that is the hour of a time: both ends of a range may have one sign."""
        if quantity.kind != "time" or quantity.minutes % 60:
            return False
        hour = quantity.minutes // 60
        for each in dict.fromkeys((hour, (hour + 12) % 24, hour or 12)):
            number = self._free(self._by_value[str(each or ""), ""])
            if number is not None and self._own.clock == 12 and hour > 12 and number.group() == str(hour):
                half = _HALF_AFTER.match(self._output, number.end())
                return self._take(number.start(), half.end() if half else number.end(), quantity, f"{hour - 12} PM")
            if number is not None:
                text = str(hour) if quantity.exact and self._own.clock == 24 else number.group()
                return self._take(*number.span(), quantity, text)
        return False

    def take_hours(self, source: str) -> None:
        """Let times of the output that are twelve hours after hours of the `source`, as in "at 9" and "nine o'clock", have these hours."""
        if self._own.clock == 12:
            return
        for match in _HOUR_ALONE.finditer(source):
            hour = int(match["hour"] or match["hour2"])
            if 1 <= hour < 12 and not self._by_minutes[60 * hour]:
                time = self._free_time([60 * hour + HALF_DAY])
                if time is not None:
                    minutes = 60 * hour
                    quantity = Quantity(*match.span(), match.group(), "time", minutes=minutes, exact=False)
                    self._take(time.start, time.end, quantity, self._at(time, minutes))

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

    def _as_usual(self, time: Quantity) -> str:
        """A time of the output without a.m. or p.m. if the clock has 24 hours, else with those in the form of the others."""
        match = _HALF.fullmatch(time.text)
        if match is None:
            return time.text
        if self._own.clock == 24:
            return written_time(time.minutes, self._own, self._language)
        return self._with_half(match, time, ends_sentence=time.text.endswith(".") and not match["stop"])

    def _with_half(self, match: re.Match[str], time: Quantity, *, ends_sentence: bool = False) -> str:
        """The clock and the half of the day that `match` has for a time of the output, in the form of the others."""
        space, stop, is_capital = self._form
        half = f"{match['half']}{stop}m"
        has_stop = not self._output.startswith(".", time.end) if stop else ends_sentence
        return f"{match['clock']}{space}{half.upper() if is_capital else half.lower()}{'.' * has_stop}"

    def _at(self, time: Quantity, minutes: int) -> str:
        """A time of the output, written in the same way, at other `minutes`."""
        match = _HALF.fullmatch(written_time(minutes, self._own, self._language)) if self._own.clock == 12 else None
        if match is not None:
            return self._with_half(match, time)
        text = self._as_usual(time)
        hour = f"{minutes // 60:02}" if text.startswith("0") else f"{minutes // 60}"
        return re.sub(r"^\d+", hour, text)


def _form_of(times: Sequence[str]) -> HalfForm:
    """The form of a.m. and p.m. that most of the `times` of an output have, or the last of several; capitals have no full stops."""
    found = [_HALF.fullmatch(time) for time in reversed(times)]
    forms = [(each["space"], each["stop"], each["half"].isupper()) for each in found if each is not None]
    forms = [_USUAL_FORM if is_capital and stop else (space, stop, is_capital) for space, stop, is_capital in forms]
    return max(forms, key=forms.count, default=_USUAL_FORM)


class _Digits:
    """The digits of an output that stand for no quantity yet: `shown` is the output, where those that do are hidden.

    `take` and its like look for digits that stand for a number of a source. If they find some, they remove them and return True.
    """

    def __init__(self, shown: str) -> None:
        found = [match.group() for match in _DIGITS.finditer(shown)]
        self._numbers, self._grouped = list(map(_parts, found)), [_GROUPED.fullmatch(each) is not None for each in found]
        self._by_digits, self._by_form = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for index, parts in reversed(list(enumerate(self._numbers))):
            self._by_digits[_joined(parts)].append(index)
            for form in _forms(parts):
                self._by_form[form].append(index)

    @property
    def are_taken(self) -> bool:
        """Whether no digits are left."""
        return not any(self._numbers)

    def take(self, number: "_Wanted") -> bool:
        """Take a number with the same digits."""
        return self._take_whole(self._by_digits[_joined(number.parts)])

    def take_plain(self, number: "_Wanted") -> bool:
        """Take a number with the same digits, for one that is no time after noon."""
        return number.forms == _forms(number.parts) and self.take(number)

    def take_form(self, number: "_Wanted") -> bool:
        """Take a number in another form, such as the time of a 24-hour clock."""
        return any(self._take_whole(self._by_form[form]) for form in sorted(number.forms))

    def take_parts(self, number: "_Wanted") -> bool:
        """Take the parts of a number: in succession, from one number or several; those of a date in any order."""
        wanted = number.parts
        is_date = len(wanted) >= _DATE
        before = range(len(wanted) if is_date else 1)
        starts = {place - each for part in wanted for place in self._by_part[part][:_MOST_PLACES] for each in before}
        for start in sorted(starts):
            found = self._rest[start : start + len(wanted)] if start >= 0 else []
            if found == wanted or (is_date and Counter(found) == Counter(wanted)):
                self._rest[start : start + len(wanted)] = [""] * len(wanted)
                return True
        return False

    @cached_property
    def _rest(self) -> list[str]:
        """The parts of all numbers that are not taken as a whole; "" for one that is taken."""
        return [part for parts, grouped in zip(self._numbers, self._grouped, strict=True) if not grouped for part in parts]

    @cached_property
    def _by_part(self) -> dict[str, list[int]]:
        places = defaultdict[str, list[int]](list)
        for index, part in enumerate(self._rest):
            places[part].append(index)
        return places

    def _take_whole(self, indices: list[int]) -> bool:
        while indices:
            index = indices.pop()
            if self._numbers[index]:
                self._numbers[index] = []
                return True
        return False


class _Wanted(NamedTuple):
    """A number of a source that is compared by its digits: the groups of these, and the forms that stand for it (see `_forms`)."""

    quantity: Quantity
    parts: list[str]
    forms: set[str]


def numbers_in_digits(text: str) -> list[str]:
    """The numbers of `text` that are written in digits, with the separators between them, in order."""
    return _DIGITS.findall(text)


def lost_numbers(source: str, output: str, languages: Languages = ("", "")) -> list[Quantity]:
    """The numbers of `source` that `output` lacks, in order; a number of the output stands for one of the source only.

    With the conventions of both `languages`, numbers with separators, prices, labels, and times with a.m. or p.m. must have the same
    value. Of others, the separators between digits may differ, and a time after noon may be that of a 24-hour clock. A number up to 99
    may be a word.
    """
    if not has_digits(source):
        return []
    matching, missing, wanted, digits = _compared(source, output, languages)
    if not missing and not wanted:
        return []
    for take in (digits.take_plain, digits.take, digits.take_form, digits.take_parts):
        wanted = [number for number in wanted if not take(number)]
    words = _word_values(output)
    if matching is not None:
        matching.lost = missing
        matching.take_words(words)
        missing = matching.lost
    lost = [number.quantity for number in wanted if not _take_word(words, number.forms)]
    return sorted([*missing, *lost], key=lambda each: each.start)


def same_numbers(source: str, target: str, languages: Languages) -> bool:
    """Whether each number of `source` in digits stands for one of `target`, in any order, and none of the target is left.

    Only their digits must be the same, and the times of day, not how a language writes them.
    """
    _, missing, wanted, digits = _compared(source, target, languages, by_value=("time",))
    if missing:
        return False
    for take in (digits.take_plain, digits.take, digits.take_form):
        wanted = [number for number in wanted if not take(number)]
    return not wanted and digits.are_taken


def _compared(
    source: str, output: str, languages: Languages, by_value: Collection[str] = ("time", "price", "number", "label")
) -> tuple[Matching | None, list[Quantity], list[_Wanted], _Digits]:
    """Match the quantities of a source with those of an output by their values.

    Returns the matching (None without two conventions), the quantities of the kinds `by_value` whose values are missing, the numbers that
    are left to be compared by their digits, and the digits of the output that are left.
    """
    own = convention(languages[0])
    quantities = find_quantities(source, languages[0]) if convention(languages[1]) is not None else ()
    matching = Matching(output, languages[1]) if quantities else None
    missing, used = list[Quantity](), list[Span]()
    if matching is not None:
        matching.match(quantities, any_form=False)
        missing = [each for each in matching.lost if each.kind in by_value and _has_value(each)]
        used = sorted((start, end) for start, end, _, _ in matching.taken)
    by_digits = {each for each in matching.lost if each not in missing} if matching is not None else set()
    judged = [(each.start, each.end) for each in quantities if each not in by_digits]
    times = {time.start: time for time in by_digits or find_times(source, own) if time.kind == "time"}
    wanted = [_wanted(source, match, times) for match in _DIGITS.finditer(hidden(source, judged))]
    return matching, missing, wanted, _Digits(hidden(output, used))


def _wanted(source: str, match: re.Match[str], times: Mapping[int, Quantity]) -> _Wanted:
    parts, (start, end), time = _parts(match.group()), match.span(), times.get(match.start())
    hour = int(parts[0]) if len(parts[0]) <= 2 else _DAY
    if time is not None and time.exact:
        hours = [time.minutes // 60, *([24] if time.minutes < 60 else [])]
    elif hour <= 12 and (time is not None or _AT.search(source, max(start - 4, 0), start) or _OCLOCK.match(source, end)):
        hours = [hour + 12]
    else:
        hours = []
    forms = {form for each in (parts[0], *hours) for form in _forms([str(each), *parts[1:]])}
    return _Wanted(Quantity(start, end, match.group(), "number"), parts, forms)


def _has_value(quantity: Quantity) -> bool:
    """Whether a quantity is compared by its value: a time with a.m. or p.m., a price, or a number with separators."""
    return quantity.exact if quantity.kind == "time" else bool(quantity.sign or quantity.fraction or quantity.grouped)


def lost_long_numbers(source: str, output: str, languages: Languages = ("", "")) -> list[str]:
    """Return the following parts of `source` that are missing from `output`: prices, times with a.m. or p.m., numbers with at least
    three digits, those that a hyphen joins to one of these (4711-22), and amounts with a word such as "million" or the name of a currency.
    """
    found = lost_numbers(source, output, languages)
    joined = [each.span() for each in _JOINED.finditer(source) if _is_long(each[0])] if found else []
    lost = [
        next((source[start:end] for start, end in joined if start <= each.start < end), each.text)
        for each in found
        if each.kind in ("price", "time") or _is_long(each.text) or any(start <= each.start < end for start, end in joined)
    ]
    return list(dict.fromkeys([*lost, *lost_amounts(source, output, languages)]))


def lost_amounts(source: str, output: str, languages: Languages) -> list[str]:
    """The numbers of `source` whose word such as "million" or name of a currency `output` lacks."""
    return [*lost_scales(source, output, languages), *lost_currencies(source, output, languages)]


def _is_long(number: str) -> bool:
    return ":" not in number and sum(map(str.isdecimal, number)) >= _LEAST_DIGITS


def _word_values(text: str) -> Counter[str]:
    """Count the number words of `text`, such as "two" or "zwei"; the keys are the numbers in digits, "0" to "99"."""
    return Counter(NUMBER_WORDS[word] for word in _LETTERS.findall(text.lower()) if word in NUMBER_WORDS)


def _take_word(words: Counter[str], forms: Collection[str]) -> bool:
    """Take a word for a number with one of the `forms` from the `words`, and return True; False if there is none."""
    form = next((form for form in forms if words[form] > 0), None)
    if form is not None:
        words[form] -= 1
    return form is not None


def _forms(parts: Sequence[str]) -> set[str]:
    """The accepted forms of a number: its digits, the same without leading zeros, and a full hour without minutes."""
    digits = "".join(parts)
    return {digits, digits.lstrip("0")} | ({parts[0]} if len(parts) == 2 and parts[1] == "00" else set())


def _parts(number: str) -> list[str]:
    return re.findall(r"\d+", number)


def _joined(parts: Sequence[str]) -> str:
    return "".join(parts).lstrip("0")
