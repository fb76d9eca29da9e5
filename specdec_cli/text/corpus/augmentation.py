"""Pairs with other numbers, times and names, so that a model learns to copy them; mixing of domains."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from specdec_cli.text.corpus.cleaning import same_numbers
from specdec_cli.text.corpus.parallel import Pair

_SOURCE = re.compile(r"(?<![\d:.,])(\d{1,2})(?::(\d\d))?(?![\d:])(?:(\s?)([ap])(?=\.?\s?m\b))?", re.IGNORECASE)
_TARGET = re.compile(r"(?<![\d:.,])(\d{1,2})(?:([:.])(\d\d))?(?![\d:])(\s?Uhr\b)?")


@dataclass(frozen=True)
class ClockTime:
    """A time of day, in minutes after midnight, and the characters [`start`, `end`) that write it, without Uhr and the m of a.m."""

    minutes: int
    start: int
    end: int
    written: re.Match[str]


def source_times(text: str) -> list[ClockTime]:
    """The times of an English sentence, in order: 9 p.m., 9:30pm, and 21:30, which counts as a time of the 24-hour clock."""
    return [time for match in _SOURCE.finditer(text) if (match[2] or match[4]) and (time := _time(match, match[2], match[4]))]


def target_times(text: str) -> list[ClockTime]:
    """The times of a German sentence, in order: 21 Uhr, 21.30 Uhr and 21:30."""
    return [time for match in _TARGET.finditer(text) if (match[4] or match[2] == ":") and (time := _time(match, match[3], None))]


def _time(match: re.Match[str], minutes: str | None, half: str | None) -> ClockTime | None:
    """The time that `match` writes; None if the clock has none such, as 13 p.m. `half` is the a of a.m. or the p of p.m."""
    hour, minute = int(match[1]), int(minutes or 0)
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + 12 * (half in "pP")
    end = match.end(4) if half else match.end(3 if match.re is _TARGET and minutes else 2 if minutes else 1)
    return ClockTime(60 * hour + minute, match.start(), end, match) if hour < 24 and minute < 60 else None


_DAY = 24 * 60
_FULL_HOURS = 0.4
"""The share of full hours among the times drawn; the others have minutes that are multiples of five."""


def with_other_times(pair: Pair, draw: random.Random) -> Pair:
    """Replace the times of a pair by random ones, in the same format. If its two sides have different times, return the pair unchanged."""
    source, target = source_times(pair.source), target_times(pair.target)
    if not source or sorted(time.minutes for time in source) != sorted(time.minutes for time in target):
        return pair
    distinct = sorted({time.minutes for time in source})
    drawn = dict(zip(distinct, _draw(len(distinct), draw), strict=True))
    return Pair(
        _with_times(pair.source, ((time, _as_source(time, drawn[time.minutes])) for time in source)),
        _with_times(pair.target, ((time, _as_target(time, drawn[time.minutes])) for time in target)),
        pair.domain,
    )


def _draw(count: int, draw: random.Random) -> list[int]:
    """Different times; `count` at most 12."""
    times: dict[int, None] = {}
    while len(times) < count:
        times[draw.randrange(24) * 60 if draw.random() < _FULL_HOURS else draw.randrange(0, _DAY, 5)] = None
    return list(times)


def _as_source(time: ClockTime, minutes: int) -> str:
    hour, minute = divmod(minutes, 60)
    _, with_minutes, space, half = time.written.groups()
    if half:
        letter = "ap"[hour >= 12]
        hour, half = (hour - 1) % 12 + 1, letter.upper() if half.isupper() else letter
    written = f"{hour:02}" if time.written[1].startswith("0") else f"{hour}"
    return written + (f":{minute:02}" if with_minutes or minute else "") + (space + half if half else "")


def _as_target(time: ClockTime, minutes: int) -> str:
    hour, minute = divmod(minutes, 60)
    written = f"{hour:02}" if time.written[1].startswith("0") else f"{hour}"
    return written + (f"{time.written[2] or ':'}{minute:02}" if time.written[3] or minute else "")


def _with_times(text: str, changes: Iterator[tuple[ClockTime, str]]) -> str:
    parts, end = [], 0
    for time, written in changes:
        parts += [text[end : time.start], written]
        end = time.end
    return "".join([*parts, text[end:]])


_NUMBER = re.compile(r"\d+")
_PLAIN_NUMBER = re.compile(r"(?<![\w&#%])(?!1\b)\d+(?![\w$])")
"""A number that is not 1, which stands with the singular, and no part of a word, a character reference (&#39;) or a placeholder (%1$s)."""
_NAME = re.compile(r"\b[A-Z][a-zäöüß]{2,}\b")
_NAME_INSIDE = re.compile(r"(?<=[a-z,] )" + _NAME.pattern)
_LOWER = re.compile(r"\b[a-zäöüß]+\b")
_MOSTLY_NAME = 10
"""A name is capitalised inside sentences more than this many times as often as it is written in lower case in the target text."""
_TRIES = 20
"""Draws for a word that is not taken."""
_RARE = 200
"""Names that replace others occur at most this often, so that most of them are names that the model has hardly seen."""


class Variation:
    """Replaces numbers, times of day and names of pairs by others.

    A pair whose sides have the same numbers gets, with the probability `share`, random numbers of the same lengths instead: not for 1,
    which stands with the singular, and not in words, character references and placeholders. With the same probability, a pair whose
    sides have the same times (9:30 p.m. and 21.30 Uhr) gets others; numbers of times change in no other way. Names are capitalised words
    of the letters A to Z, a to z and äöüß inside sources that their targets have too. A pair with as many of each on both sides gets,
    with the probability `share`, rare names of `pairs` instead. Different numbers and names become different ones. The same `seed` gives
    the same result. `varied` counts the pairs changed.
    """

    def __init__(self, pairs: Iterable[Pair], share: float, seed: int = 0) -> None:
        self.share, self.varied, self._random = share, 0, random.Random(seed)
        names, lower = Counter[str](), Counter[str]()
        for pair in pairs:
            lower.update(_LOWER.findall(pair.target))
            in_target = set(_NAME.findall(pair.target))
            names.update(name for name in _NAME_INSIDE.findall(pair.source) if name in in_target)
        self._names = {name for name, count in names.items() if count > _MOSTLY_NAME * lower[name.lower()]}
        self._rare = sorted(name for name in self._names if names[name] <= _RARE)

    def __call__(self, pair: Pair) -> Pair:
        """The pair, or one with other numbers, times or names."""
        before, changes = pair, dict[str, str]()
        if self._random.random() < self.share:
            pair = with_other_times(pair, self._random)
        times = (*source_times(pair.source), *target_times(pair.target))
        in_times = {number for time in times for number in _NUMBER.findall(time.written[0])}
        source, target = (Counter(_PLAIN_NUMBER.findall(text)) for text in (pair.source, pair.target))
        numbers = [number for number in source if source[number] == target[number] and number not in in_times]
        if numbers and same_numbers(pair) and self._random.random() < self.share:
            changes |= self._others(numbers, {*_NUMBER.findall(pair.source), "1"}, self._number)
        source, target = (Counter(_NAME.findall(text)) for text in (pair.source, pair.target))
        names = [name for name in source if name in self._names and source[name] == target[name]]
        if names and self._rare and self._random.random() < self.share:
            changes |= self._others(names, set(source), lambda _: self._random.choice(self._rare))
        varied = Pair(_replaced(pair.source, changes), _replaced(pair.target, changes), pair.domain)
        self.varied += varied != before
        return varied

    def _others(self, words: list[str], taken: set[str], draw: Callable[[str], str]) -> dict[str, str]:
        """A word that `draw` gives for each of `words`, none of them twice and none in `taken`; the word itself if none is found."""
        changes: dict[str, str] = {}
        for word in words:
            drawn = next((other for other in (draw(word) for _ in range(_TRIES)) if other not in taken), word)
            taken.add(drawn)
            changes[word] = drawn
        return changes

    def _number(self, like: str) -> str:
        first = self._random.choice("123456789") if like[0] != "0" else "0"
        return first + "".join(self._random.choice("0123456789") for _ in like[1:])


def _replaced(text: str, changes: dict[str, str]) -> str:
    for pattern in (_PLAIN_NUMBER, _NAME):
        text = pattern.sub(lambda found: changes.get(found.group(), found.group()), text)
    return text


def repetitions(counts: Mapping[str, int], temperature: float) -> dict[str, float]:
    """How often each domain is to be read, so that its share is proportional to count ** (1 / temperature) (Arivazhagan et al. 2019).

    `counts` has the number of pairs of each domain; the largest domain is read once. With a temperature of 1 or more, none is read
    less often.
    """
    largest = max(counts.values(), default=1)
    return {domain: (count / largest) ** (1 / temperature - 1) for domain, count in counts.items()}


def repeated(pairs: Iterable[Pair], times: Mapping[str, float]) -> Iterator[Pair]:
    """Yield each pair `times[its domain]` times on average, in order; the copies of a pair are adjacent.

    Of a domain that is read 2.5 times, every other pair is yielded three times, and the others twice.
    """
    seen = Counter[str]()
    for pair in pairs:
        due = times[pair.domain]
        copies = int((seen[pair.domain] + 1) * due) - int(seen[pair.domain] * due)
        seen[pair.domain] += 1
        for _ in range(copies):
            yield pair
