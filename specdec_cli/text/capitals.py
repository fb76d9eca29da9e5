"""Capital letters: texts in capitals, which the model reads in small letters, and the first letter of a translation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specdec_cli.text.placeholders import Attempt
from specdec_cli.text.protected import protected_spans, split_at, without_protected

_WORD = re.compile(r"[^\W\d_]{2,}")
_LONGEST, _ONLY = 4, 5
"""The least number of letters of the longest word of a text in capitals, and of its only word: shorter ones may be abbreviations."""
_CAPITALS = re.compile(rf"[A-Z\u00c0-\u00de]{{{_LONGEST}}}")
_I, _LETTER = re.compile(r"\bi\b"), re.compile(r"[^\W\d_]")
_FIRST = re.compile(r"[^\w'\u2019<{$%\\@#/]*([^\W\d_]\w*)")
"""The first word of a text, after marks such as quotation marks."""


@dataclass(frozen=True)
class CapitalsAttempt(Attempt):
    """Makes the `attempt` for a text in capitals, which the model reads in small letters. `spans` are the protected spans of the text."""

    attempt: Attempt
    spans: tuple[str, ...]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt, with capitals outside the spans; None if the attempt fails."""
        output = self.attempt.restore(outputs)
        if output is None:
            return None
        spans = "|".join(map(re.escape, sorted(self.spans, key=len, reverse=True)))
        parts = re.split(f"({spans})", output) if spans else [output]
        return "".join(part if place % 2 else part.upper() for place, part in enumerate(parts))

    def draft(self, text: str) -> str | None:  # noqa: ARG002
        """Return None. An earlier translation is in capitals too, and the model writes small letters here."""
        return None


def is_in_capitals(text: str) -> bool:
    """Whether all letters of `text` outside its protected spans are capitals, and one of its words is too long for an abbreviation."""
    if not text.isupper() and not _CAPITALS.search(text):
        return False
    outside = without_protected(text)
    words = _WORD.findall(outside)
    return outside.isupper() and max(map(len, words), default=0) >= (_ONLY if len(words) == 1 else _LONGEST)


def with_first_capital(output: str, source: str) -> str:
    """Return `output` with a capital as its first letter if `source` has one, unless its first word is in `source`, such as a name."""
    own, first = _FIRST.match(source), _FIRST.match(output)
    if own is None or first is None or not own[1][0].isupper() or not first[1][0].islower():
        return output
    place = first.start(1)
    is_name = re.search(rf"(?<!\w){re.escape(first[1])}(?!\w)", source) or any(begin == place for begin, _ in protected_spans(output))
    return output if is_name else f"{output[:place]}{output[place].upper()}{output[place + 1 :]}"


def in_small_letters(text: str) -> str:
    """Return a text in capitals in small letters, except for its first letter, the English "I" and its protected spans."""
    parts = split_at(text, protected_spans(text))
    parts[::2] = [_I.sub("I", part.lower()) for part in parts[::2]]
    first = next((place for place, part in enumerate(parts[::2]) if _LETTER.search(part)), 0)
    parts[2 * first] = _LETTER.sub(lambda letter: letter.group().upper(), parts[2 * first], count=1)
    return "".join(parts)
