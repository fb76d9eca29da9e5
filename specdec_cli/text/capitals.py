"""Texts in capital letters: the model reads them in small letters, and its output is written in capitals."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from specdec_cli.text.placeholders import Attempt
from specdec_cli.text.protected import protected_spans, without_protected

_WORD = re.compile(r"[^\W\d_]{2,}")
_LONGEST, _ONLY = 4, 5
"""The least number of letters of the longest word of a text in capitals, and of its only word: shorter ones may be abbreviations."""
_I, _LETTER = re.compile(r"\bi\b"), re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class CapitalsAttempt(Attempt):
    """Makes the `attempt` for a text in capital letters, which the model reads in small ones; `spans` are its protected spans."""

    attempt: Attempt
    spans: tuple[str, ...]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt in capitals, except for the spans."""
        output = self.attempt.restore(outputs)
        if output is None:
            return None
        spans = "|".join(map(re.escape, sorted(self.spans, key=len, reverse=True)))
        parts = re.split(f"({spans})", output) if spans else [output]
        return "".join(part if place % 2 else part.upper() for place, part in enumerate(parts))

    def draft(self, text: str) -> str | None:  # noqa: ARG002
        """Return None: earlier translations have capitals, which the model is not to write."""
        return None


def is_in_capitals(text: str) -> bool:
    """Whether all letters of `text` outside its protected spans are capitals, and not all of its words may be abbreviations."""
    if any(map(str.islower, text)):
        text = without_protected(text)
    if not text.isupper():
        return False
    words = _WORD.findall(text)
    return max(map(len, words), default=0) >= (_ONLY if len(words) == 1 else _LONGEST)


def in_small_letters(text: str) -> str:
    """Return a text in capitals in small letters, except for its first letter, the English "I" and its protected spans."""
    bounds = [0, *(offset for span in protected_spans(text) for offset in span), len(text)]
    parts = [text[start:end] for start, end in pairwise(bounds)]  # every second one is protected
    parts[::2] = [_I.sub("I", part.lower()) for part in parts[::2]]
    first = next((place for place, part in enumerate(parts[::2]) if _LETTER.search(part)), 0)
    parts[2 * first] = _LETTER.sub(lambda letter: letter.group().upper(), parts[2 * first], count=1)
    return "".join(parts)
