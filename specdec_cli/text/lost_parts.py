"""Long numbers, as 250,000, and names that an output lacks: they are put into it by placeholders, numbers as the target language
writes them.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from specdec_cli.text.languages import short_code
from specdec_cli.text.lost_numbers import lost_numbers
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
_WORD = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"(.)\1+")
_SHORTER = {"de": {"glas", "gras", "peperoni"}}
"""The languages in which names are checked for lost letters. For each one, its words that are rightly shorter than the English ones."""


@dataclass(frozen=True)
class WatchedAttempt(Attempt):
    """Makes the `attempt` for the text `source`. It fails if its output lacks long numbers or letters of names; these numbers and names are
    added to `lost`. `language` is that of the output.
    """

    attempt: Attempt
    source: str
    language: str
    lost: set[str]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt; None if it fails."""
        output = self.attempt.restore(outputs)
        if output is None:
            return None
        found = {*lost_long_numbers(self.source, output), *shortened_names(self.source, output, self.language)}
        self.lost.update(found)
        return None if found else output

    def draft(self, text: str) -> str | None:
        """Return what the attempt does."""
        return self.attempt.draft(text)


def lost_long_numbers(source: str, output: str) -> list[str]:
    """The numbers of `source` with at least three digits that `output` lacks (see `lost_numbers`). Times of day do not count."""
    return [number for number in lost_numbers(source, output) if ":" not in number and sum(map(str.isdecimal, number)) >= _LEAST_DIGITS]


def shortened_names(source: str, output: str, language: str) -> list[str]:
    """The words of `source` with a capital and a doubled letter that `output`, in `language`, has only with one of the letters."""
    own = _SHORTER.get(short_code(language))
    names = [word for word in _WORD.findall(source) if word[0].isupper() and _DOUBLED.search(word.lower())]
    if own is None or not names:
        return []
    there = {word.lower() for word in _WORD.findall(output)}
    new = there - own - {word.lower() for word in _WORD.findall(source)}
    return [name for name in names if name.lower() not in there and _shorter_forms(name.lower()) & new]


def with_written(text: str, parts: Collection[str], source: str, target: str) -> tuple[str, list[Span]]:
    """Return `text`, in the language `source`, with the numbers among `parts` as the language `target` writes them, and the offsets of all
    parts there.

    Numbers of languages that are not known here stay as they are, and so do numbers of other kinds, such as dates.
    """
    pieces, spans, position, length = [], list[Span](), 0, 0
    pattern = "|".join(map(re.escape, sorted(parts, key=len, reverse=True)))
    for found in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text):
        written = _converted(found.group(), source, target)
        pieces += [text[position : found.start()], written]
        length += found.start() - position
        spans.append((length, length + len(written)))
        position, length = found.end(), length + len(written)
    return "".join([*pieces, text[position:]]), spans


def _shorter_forms(word: str) -> set[str]:
    """A word with one letter in place of each doubled one, or of one of them; and the same with an s, as in the genitive."""
    places = list(_DOUBLED.finditer(word))
    forms = {_DOUBLED.sub(r"\1", word), *(word[: each.start() + 1] + word[each.end() :] for each in places)}
    return forms | {f"{form}s" for form in forms}


def _converted(number: str, source: str, target: str) -> str:
    """A number of the language `source` in the style of the language `target`."""
    old, new = _STYLES.get(short_code(source)), _STYLES.get(short_code(target))
    if old is None or new is None:
        return number
    thousands, decimals = map(re.escape, old)
    if not re.fullmatch(rf"(?:\d{{1,3}}(?:{thousands}\d{{3}})+|\d+)(?:{decimals}\d+)?", number):
        return number
    return number.translate(str.maketrans("".join(old), "".join(new)))
