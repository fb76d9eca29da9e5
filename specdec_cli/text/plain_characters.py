"""Plain characters for spaces, invisible characters and forms of letters that a vocabulary lacks."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from specdec_cli.text.placeholders import Attempt
from specdec_cli.text.protected import protected_spans

Lacks = Callable[[str], bool]
"""Whether a vocabulary lacks a character."""
_FIXED = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)*)([\u00a0\u202f])(?=\S)")
"""A number with a no-break space after it."""


@dataclass(frozen=True)
class PlainAttempt(Attempt):
    """Makes the `attempt` for the `source` in plain characters; `plain` writes a text in them."""

    attempt: Attempt
    source: str
    plain: Callable[[str], str]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt, with a no-break space after each number that has one in the source."""
        output = self.attempt.restore(outputs)
        if output is not None:
            for number, space in _FIXED.findall(self.source):
                output = re.sub(rf"(?<![\w.,]){re.escape(number)} (?=\S)", number + space, output, count=1)
        return output

    def draft(self, text: str) -> str | None:
        """Return `text` in plain characters, as a draft for the attempt."""
        return self.attempt.draft(self.plain(text))


def plain_characters(text: str, lacks: Lacks) -> str:
    """Return `text` in plain characters where the vocabulary `lacks` others; protected spans stay as they are.

    Accents are joined to their letters, spaces become plain ones, invisible characters such as soft hyphens are left out, and ligatures
    become their letters.
    """
    if text.isascii() and text.isprintable():
        return text
    bounds = [0, *(offset for span in protected_spans(text) for offset in span), len(text)]
    parts = [text[start:end] for start, end in pairwise(bounds)]  # every second one is protected
    parts[::2] = ["".join(_plain(each, lacks) for each in unicodedata.normalize("NFC", part)) for part in parts[::2]]
    return "".join(parts)


def _plain(character: str, lacks: Lacks) -> str:
    if not lacks(character):
        return character
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Cc", "Cf") or "\ufe00" <= character <= "\ufe0f":
        return ""
    letters = unicodedata.normalize("NFKC", character) if category.startswith("L") else ""
    return letters if letters.isalpha() and not any(map(lacks, letters)) else character
