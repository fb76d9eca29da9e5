"""Plain characters for spaces, invisible characters and forms of letters that a vocabulary lacks."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from specdec_cli.text.placeholders import Attempt
from specdec_cli.text.protected import protected_spans

Lacks = Callable[[str], bool]
"""Whether a vocabulary lacks a character."""
_NUMBER = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)*)(\s)(?=\S)")
"""A number with a space after it."""
_FIXED = "\u00a0\u202f"
"""No-break spaces."""


@dataclass(frozen=True)
class PlainAttempt(Attempt):
    """Makes the `attempt` for the `source` in plain characters; `plain` writes a text in them."""

    attempt: Attempt
    source: str
    plain: Callable[[str], str]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt, with a no-break space after each number that has one in the source."""
        output = self.attempt.restore(outputs)
        return None if output is None else _with_fixed_spaces(self.source, output)

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


def is_raised(character: str) -> bool:
    """Whether a character is a superscript or subscript form of another one."""
    return unicodedata.decomposition(character).startswith(("<super>", "<sub>"))


def _with_fixed_spaces(source: str, output: str) -> str:
    """`output` with a no-break space after each number that has one in `source`; of equal numbers, in their order."""
    spaces = defaultdict[str, list[str]](list)
    for number, space in reversed(_NUMBER.findall(source)):
        spaces[re.sub("[.,]", "", number)].append(space)

    def written(found: re.Match[str]) -> str:
        own = spaces[re.sub("[.,]", "", found[1])]
        space = own.pop() if own else ""
        return found[1] + (space if space in _FIXED and space else found[2])

    return _NUMBER.sub(written, output)


def _plain(character: str, lacks: Lacks) -> str:
    if not lacks(character):
        return character
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Cc", "Cf") or "\ufe00" <= character <= "\ufe0f":
        return ""
    is_letter = category.startswith("L") and not is_raised(character)
    letters = unicodedata.normalize("NFKC", character) if is_letter else ""
    return letters if letters.isalpha() and not any(map(lacks, letters)) else character
