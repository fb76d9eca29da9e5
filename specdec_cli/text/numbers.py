"""Numbers that a sentence and its translation have in common, however each language writes them."""

import re

from specdec_cli.text.parallel import Pair

_NUMBER = re.compile(r"\d+")
_TWELVE_HOUR_TIME = re.compile(r"\b(0?[1-9]|1[0-2])(?:[:.]([0-5]\d))?\s?([ap])\.?\s?m\b", re.IGNORECASE)
_FULL_HOUR = re.compile(r"\b([01]?\d|2[0-4])[:.]00\b")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")


def same_numbers(pair: Pair) -> bool:
    """Whether both sides have the same numbers in digits, in any order.

    Times are compared by the 24-hour clock (9:30 p.m. and 21.30), full hours without minutes (9:00 and 9), and numbers without the
    marks between thousands (1,500 and 1500).
    """
    return _numbers(pair.source) == _numbers(pair.target)


def _numbers(text: str) -> list[str]:
    text = _TWELVE_HOUR_TIME.sub(_by_24_hours, text)
    text = _THOUSANDS.sub("", _FULL_HOUR.sub(r"\1", text))
    return sorted(number.lstrip("0") or "0" for number in _NUMBER.findall(text))


def _by_24_hours(time: re.Match[str]) -> str:
    hour, minutes, half = time.groups()
    return f"{int(hour) % 12 + (12 if half in 'pP' else 0)}:{minutes or '00'}"
