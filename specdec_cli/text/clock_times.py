"""Times of day in an English sentence and its German translation, on a clock of 12 or 24 hours, and other times in their places."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from specdec_cli.text.parallel import Pair

_SOURCE = re.compile(r"(?<![\d:.,])(\d{1,2})(?::(\d\d))?(?![\d:])(?:(\s?)([ap])(?=\.?\s?m\b))?", re.IGNORECASE)
_TARGET = re.compile(r"(?<![\d:.,])(\d{1,2})(?:([:.])(\d\d))?(?![\d:])(\s?Uhr\b)?")
_DAY = 24 * 60
_FULL_HOURS = 0.4
"""The share of full hours among the times drawn; the others have minutes that are multiples of five."""


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


def with_other_times(pair: Pair, draw: random.Random) -> Pair:
    """The pair with random other times, in the places and spellings of its own; the pair itself if its sides have different times."""
    source, target = source_times(pair.source), target_times(pair.target)
    if not source or sorted(time.minutes for time in source) != sorted(time.minutes for time in target):
        return pair
    distinct = sorted({time.minutes for time in source})
    drawn = dict(zip(distinct, _draw(len(distinct), draw), strict=True))
    return Pair(
        _replaced(pair.source, ((time, _as_source(time, drawn[time.minutes])) for time in source)),
        _replaced(pair.target, ((time, _as_target(time, drawn[time.minutes])) for time in target)),
        pair.domain,
    )


def _time(match: re.Match[str], minutes: str | None, half: str | None) -> ClockTime | None:
    """The time that `match` writes; None if the clock has none such, as 13 p.m. `half` is the a of a.m. or the p of p.m."""
    hour, minute = int(match[1]), int(minutes or 0)
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + 12 * (half in "pP")
    end = match.end(4) if half else match.end(3 if match.re is _TARGET and minutes else 2 if minutes else 1)
    return ClockTime(60 * hour + minute, match.start(), end, match) if hour < 24 and minute < 60 else None


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


def _replaced(text: str, changes: Iterator[tuple[ClockTime, str]]) -> str:
    parts, end = [], 0
    for time, written in changes:
        parts += [text[end : time.start], written]
        end = time.end
    return "".join([*parts, text[end:]])
