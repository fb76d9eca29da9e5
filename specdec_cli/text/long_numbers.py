"""Long numbers, as 250,000: an output that lacks one is decoded again with placeholders for them, written as in the target language."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specdec_cli.text.languages import short_code
from specdec_cli.text.lost_numbers import find_written, lost_numbers
from specdec_cli.text.placeholders import Attempt

Span = tuple[int, int]
_LEAST_DIGITS = 3
"""Numbers with fewer digits are not long: translations may write them as words or leave them out."""
_STYLES = {
    **dict.fromkeys(("de", "es", "it", "nl", "pt"), (".", ",")),
    "en": (",", "."),
    "fr": ("\u202f", ","),
}
"""For each language, the separator between thousands and the one before decimals."""


@dataclass(frozen=True)
class NumbersAttempt(Attempt):
    """Makes the `attempt` for the text `source`; it fails if the output lacks a long number of the source."""

    attempt: Attempt
    source: str

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt; None if it fails."""
        output = self.attempt.restore(outputs)
        return None if output is None or any(map(_is_long, lost_numbers(self.source, output))) else output

    def draft(self, text: str) -> str | None:
        """Return what the attempt does."""
        return self.attempt.draft(text)


def long_numbers(text: str) -> list[Span]:
    """Offsets (start, end), in order, of the numbers of `text` with at least three digits. Times of day do not count."""
    return [found.span() for found in find_written(text) if _is_long(found.group())]


def written_in(text: str, numbers: Sequence[Span], source: str, target: str) -> tuple[str, list[Span]]:
    """Return `text`, in the language `source`, with the `numbers` as the language `target` writes them, and their offsets there.

    Numbers of languages that are not known here stay as they are, and so do numbers of other kinds, such as dates.
    """
    pieces, spans, position, length = [], list[Span](), 0, 0
    for start, end in numbers:
        number = _converted(text[start:end], source, target)
        pieces += [text[position:start], number]
        length += start - position
        spans.append((length, length + len(number)))
        position, length = end, length + len(number)
    return "".join([*pieces, text[position:]]), spans


def _is_long(number: str) -> bool:
    return ":" not in number and sum(map(str.isdecimal, number)) >= _LEAST_DIGITS


def _converted(number: str, source: str, target: str) -> str:
    """A number of the language `source` in the style of the language `target`."""
    old, new = _STYLES.get(short_code(source)), _STYLES.get(short_code(target))
    if old is None or new is None:
        return number
    thousands, decimals = map(re.escape, old)
    if not re.fullmatch(rf"(?:\d{{1,3}}(?:{thousands}\d{{3}})+|\d+)(?:{decimals}\d+)?", number):
        return number
    return number.translate(str.maketrans("".join(old), "".join(new)))
