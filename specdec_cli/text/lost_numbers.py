"""Numbers of a sentence that its translation lacks."""

import re
from collections import Counter, defaultdict
from functools import cached_property

from specdec_cli.text.numbers import NUMBER, number_forms, word_values, written_forms

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
