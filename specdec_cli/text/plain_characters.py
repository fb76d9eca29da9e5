"""Plain characters for spaces, invisible characters and forms of letters that a vocabulary lacks."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from specdec_cli.text.placeholders import Attempt
from specdec_cli.text.protected import protected_spans, split_at

Lacks = Callable[[str], bool]
"""Whether a vocabulary lacks a character."""
_NUMBER = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)*)(\s)(?=\S)")
"""A number with a space after it."""
_SPACES = re.compile(" {2,}")
_FIXED = "\u00a0\u202f"
"""No-break spaces."""
_ELLIPSIS, _DOTS = "\u2026", "..."
_QUOTED = re.compile("(?<!\\w)\u2018(?=\\S)(?:[^\u2018\u2019]|(?<=\\w)\u2019(?=\\w))*(?<=\\S)\u2019(?!\\w)")
"""Words between single quotation marks, in which a mark between two letters is an apostrophe."""


@dataclass(frozen=True)
class PlainAttempt(Attempt):
    """Makes the `attempt` for the `source` in plain characters; `plain` writes a text in them."""

    attempt: Attempt
    source: str
    plain: Callable[[str], str]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt, with a no-break space after each number that has one in the source, and with the source's
        kind of ellipsis.
        """
        output = self.attempt.restore(outputs)
        if output is None:
            return None
        if _ELLIPSIS in self.source and _DOTS not in self.source:
            output = output.replace(_DOTS, _ELLIPSIS)
        return _with_fixed_spaces(self.source, output)

    def draft(self, text: str) -> str | None:
        """Return `text` in plain characters, as a draft for the attempt."""
        return self.attempt.draft(self.plain(text))


def plain_characters(text: str, lacks: Lacks) -> str:
    """Return `text` in plain characters where the vocabulary `lacks` others; protected spans stay as they are.

    Accents are joined to their letters, spaces become plain ones, several spaces one, invisible characters such as soft hyphens are left
    out, ligatures become their letters, an ellipsis becomes three dots, and single quotation marks become double ones around words, else
    apostrophes.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text
    spans = protected_spans(text)
    if lacks("\u2018"):
        text = _with_double_quotes(text, spans)
    parts = split_at(text, spans)
    plain = ("".join(_plain(each, lacks) for each in unicodedata.normalize("NFC", part)) for part in parts[::2])
    parts[::2] = [_SPACES.sub(" ", part) for part in plain]
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


def _with_double_quotes(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return `text` with the single quotation marks around words replaced by double ones, except inside the protected `spans`."""
    shown = list(text)
    for start, end in spans:
        shown[start:end] = "x" * (end - start)
    characters = list(text)
    for found in _QUOTED.finditer("".join(shown)):
        characters[found.start()] = characters[found.end() - 1] = '"'
    return "".join(characters)


def _plain(character: str, lacks: Lacks) -> str:
    if not lacks(character):
        return character
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if character == _ELLIPSIS:
        return _DOTS
    if character in "\u2018\u2019":
        return "'"
    if category in ("Cc", "Cf") or "\ufe00" <= character <= "\ufe0f":
        return ""
    is_letter = category.startswith("L") and not is_raised(character)
    letters = unicodedata.normalize("NFKC", character) if is_letter else ""
    return letters if letters.isalpha() and not any(map(lacks, letters)) else character
