"""Numbers in digits and words, compared without regard to their separators: those that an output lacks."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

NUMBER = re.compile(r"\d+(?:[.,:'\u2009\u00a0\u202f]\d+)*")
"""A number in digits, with separators."""
_LETTERS = re.compile(r"\w+")
_RANGE = r"(?:\s*(?:to|and|or|until|till|[-\u2013])\s*\d{1,2}(?:[:.]\d\d)?)?"
"""The end of a range of times, for whose beginning p.m. counts, too: 7 to 8 p.m."""
_AFTERNOON, _MORNING = (re.compile(rf"{_RANGE}\s*{letter}\.?\s?m\b", re.IGNORECASE) for letter in "pa")
_OCLOCK = re.compile(r" ?o?['\u2019]? ?clock\b", re.IGNORECASE)
_NOON = 12
_NEAR = 20
"""How many characters after a number can say that it is a time."""
_NUMERALS = {
    "0": "null zero z\u00e9ro cero nul mitternacht midnight",
    "1": "ein eine einen einem einer eines eins one once a an un une uno una um uma \u00e9\u00e9n een erste ersten erster erstes first",
    "2": "zwei two deux dos due twee dois duas beide zweite zweiten second",
    "3": "drei three trois tres tre drie tr\u00eas dritte dritten third",
    "4": "vier four quatre cuatro quattro quatro vierte vierten",
    "5": "f\u00fcnf five cinq cinco cinque vijf",
    "6": "sechs six seis sei zes",
    "7": "sieben seven sept siete sette zeven sete",
    "8": "acht eight huit ocho otto oito",
    "9": "neun nine neuf nueve nove negen",
    "10": "zehn ten dix diez dieci tien dez",
    "11": "elf eleven onze once undici",
    "12": "zw\u00f6lf twelve douze doce dodici twaalf doze mittag noon",
}
_VALUES = {word: value for value, words in _NUMERALS.items() for word in words.split()}


def find_numbers(text: str) -> list[str]:
    """The numbers of `text` that are written in digits, with the separators between them, in order."""
    return NUMBER.findall(text)


def word_values(text: str) -> Counter[str]:
    """Count the number words of `text`, such as "two" or "zwei"; the keys are the numbers in digits, "0" to "12"."""
    return Counter(_VALUES[word] for word in _LETTERS.findall(text.lower()) if word in _VALUES)


def number_forms(text: str, number: re.Match[str]) -> set[str]:
    """The accepted forms of a number of `text`; if it can be a time after noon or midnight, also those of the time on a 24-hour clock."""
    return {form for clock in _clocks(text, number, re.findall(r"\d+", number.group())) for form in written_forms(clock)}


def written_forms(parts: Sequence[str]) -> set[str]:
    """The accepted forms of a number: its digits, the same without leading zeros, and a full hour without minutes."""
    digits = "".join(parts)
    return {digits, digits.lstrip("0")} | ({parts[0]} if len(parts) == 2 and parts[1] == "00" else set())


def _clocks(source: str, number: re.Match[str], parts: list[str]) -> list[list[str]]:
    """The parts of a number and, if it can be a time after noon or midnight, those of the time on a 24-hour clock."""
    before, after = source[max(number.start() - 4, 0) : number.start()], source[number.end() : number.end() + _NEAR]
    is_time = ":" in number.group() or re.search(r"\bat $", before) or _OCLOCK.match(after)
    hour = int(parts[0]) if len(parts[0]) <= 2 else _NOON + 1
    if _MORNING.match(after):
        hours = [0, 2 * _NOON] if hour == _NOON else []
    else:
        hours = [hour + _NOON] if hour <= _NOON and (is_time or _AFTERNOON.match(after)) else []
    return [parts, *([str(each), *parts[1:]] for each in hours)]


_GROUPED = r"\d{1,3}(?:[.,' \u2009\u00a0\u202f]\d{3})+(?!\d)"
_FOUND = re.compile(rf"(?<!\d){_GROUPED}(?![.,:]?\d)|{NUMBER.pattern}")
_THOUSANDS = re.compile(_GROUPED)
_MOST_PLACES = 256
"""How many places of the same digits are tried for a number; this limits the time for a line with many numbers."""
_DATE = 3
"""Numbers with at least this many parts, such as the date 12.05.2020, may have their parts in another order in the output."""


def lost_numbers(source: str, output: str) -> list[str]:
    """The numbers of `source` that are missing from `output`, in order; the separators between digits may differ.

    A number up to 12 may also be a word in the output, and a time after noon may be that of a 24-hour clock. A number of the output
    stands for one of the source only.
    """
    wanted = list(_FOUND.finditer(source))
    if not wanted:
        return []
    left = _Left(output)
    for take in (left.take_plain, left.take_digits, left.take_form, left.take_parts, left.take_word):
        wanted = [number for number in wanted if not take(source, number)]
    return [number.group() for number in wanted]


class _Left:
    """The numbers of an output that are not yet assigned to a number of the source.

    Each `take_` method looks for a number of the output that stands for `number`, a match in `source`. If it finds one, it removes it and
    returns True.
    """

    def __init__(self, output: str) -> None:
        self._numbers = [_parts(match.group()) for match in _FOUND.finditer(output)]
        self._grouped = [_THOUSANDS.fullmatch(match.group()) is not None for match in _FOUND.finditer(output)]
        self._by_digits, self._by_form = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for index, parts in reversed(list(enumerate(self._numbers))):
            self._by_digits[_digits(parts)].append(index)
            for form in written_forms(parts):
                self._by_form[form].append(index)
        self._words = word_values(output)

    def take_plain(self, source: str, number: re.Match[str]) -> bool:
        """Take a number with the same digits, for one that is no time after noon."""
        is_plain = number_forms(source, number) == written_forms(_parts(number.group()))
        return is_plain and self.take_digits(source, number)

    def take_digits(self, source: str, number: re.Match[str]) -> bool:  # noqa: ARG002
        """Take a number with the same digits."""
        return self._take_whole(self._by_digits[_digits(_parts(number.group()))])

    def take_form(self, source: str, number: re.Match[str]) -> bool:
        """Take a number in another form, such as the time of a 24-hour clock."""
        return any(self._take_whole(self._by_form[form]) for form in sorted(number_forms(source, number)))

    def take_parts(self, source: str, number: re.Match[str]) -> bool:  # noqa: ARG002
        """Take the parts of a number: in succession, from one number or several; those of a date in any order."""
        wanted = _parts(number.group())
        is_date = len(wanted) >= _DATE
        before = range(len(wanted) if is_date else 1)
        starts = {place - each for part in wanted for place in self._by_part[part][:_MOST_PLACES] for each in before}
        for start in sorted(starts):
            found = self._rest[start : start + len(wanted)] if start >= 0 else []
            if found == wanted or (is_date and Counter(found) == Counter(wanted)):
                self._rest[start : start + len(wanted)] = [""] * len(wanted)
                return True
        return False

    def take_word(self, source: str, number: re.Match[str]) -> bool:
        """Take a word for the number."""
        word = next((form for form in number_forms(source, number) if self._words[form] > 0), None)
        if word is not None:
            self._words[word] -= 1
        return word is not None

    @cached_property
    def _rest(self) -> list[str]:
        """The parts of all numbers that are not taken as a whole; "" for one that is taken."""
        return [part for parts, grouped in zip(self._numbers, self._grouped, strict=True) if not grouped for part in parts]

    @cached_property
    def _by_part(self) -> dict[str, list[int]]:
        places = defaultdict[str, list[int]](list)
        for place, part in enumerate(self._rest):
            places[part].append(place)
        return places

    def _take_whole(self, indices: list[int]) -> bool:
        while indices:
            index = indices.pop()
            if self._numbers[index]:
                self._numbers[index] = []
                return True
        return False


def _parts(number: str) -> list[str]:
    return re.findall(r"\d+", number)


def _digits(parts: list[str]) -> str:
    return "".join(parts).lstrip("0")
