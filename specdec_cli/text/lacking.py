"""Characters that a vocabulary lacks: the spans that they make, and characters that the model knows in their place."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from specdec_cli.text.capitals import CapitalsAttempt, in_small_letters, is_in_capitals
from specdec_cli.text.lost_parts import WatchedAttempt, with_written
from specdec_cli.text.placeholder_names import FOR_LOST
from specdec_cli.text.placeholders import Attempt, SplitAttempt, attempts, holds
from specdec_cli.text.plain_characters import Lacks, PlainAttempt, is_raised, plain_characters
from specdec_cli.text.protected import protected_spans, split_at

Span = tuple[int, int]
_TRANSLATED = ("Pd", "Pi", "Pf")
"""Categories of characters that translations write differently: dashes and quotation marks."""
_STOPS = ".,;:!?'\"\u201a\u201e\u2026\u00a1\u00bf\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
"""Punctuation that translations write differently."""
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f"
_KNOWN = {"Sc": "$", "Ps": "(", "Pe": ")"}
"""For categories of characters, the character that is written in their place for the model."""
_WORD = r"\w+(?:[.,]\w+)*"
_NUMBER = r"\d+(?:[.,]\d+)*"


@dataclass(frozen=True)
class StandInAttempt(Attempt):
    """Makes the `attempt` for a text in which known characters stand for others.

    `originals` maps each known character to those in the `source` that are written as it, in order, itself included. `spans` are the
    protected ones of the source.
    """

    attempt: Attempt
    originals: dict[str, str]
    source: str
    spans: tuple[str, ...]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output with the original characters, in order; None if it has more or fewer of the known ones, or if a
        protected span is changed.
        """
        output = self.attempt.restore(outputs)
        if output is None or any(output.count(known) != len(found) for known, found in self.originals.items()):
            return None
        found = {known: iter(characters) for known, characters in self.originals.items()}
        restored = "".join(next(found[character]) if character in found else character for character in output)
        return restored if holds(restored, self.source, self.spans) else None

    def draft(self, text: str) -> str | None:
        """Return `text` with the known characters, as a draft for the `attempt`."""
        known = {each: sign for sign, originals in self.originals.items() for each in originals}
        return self.attempt.draft("".join(known.get(character, character) for character in text))


def attempts_with(lacks: Lacks, text: str, *, latin: bool = False, languages: tuple[str, str] = ("", "")) -> Iterator[Attempt]:
    """Yield ways to decode `text`, to be tried until one has an output, with a model whose vocabulary `lacks` some characters.

    Spaces, invisible characters and ligatures become plain characters (see `plain_characters`). Currency signs, brackets and quotation
    marks are replaced by "$", "(", ")" and '"' for the model, and written back in its output, except for quotation marks. Other signs,
    and Latin letters, that are lacking are protected spans with their words (see `attempts`), and so are the former if the output does
    not have as many of them. Stops, dashes and quotation marks are not protected. Long numbers and names that an output lacks become
    protected spans, numbers written as in the second of the `languages`; if that fails too, the output may lack them. A text in capitals
    is decoded in small letters.
    """
    if is_in_capitals(text):
        spans = tuple(text[start:end] for start, end in protected_spans(text, latin=latin))
        ways = _ways(lacks, in_small_letters(text), latin=latin, languages=languages)
        yield from (CapitalsAttempt(each.segments, each, spans) for each in ways)
    else:
        yield from _ways(lacks, text, latin=latin, languages=languages)


def _ways(lacks: Lacks, text: str, *, latin: bool, languages: tuple[str, str]) -> Iterator[Attempt]:
    lost = set[str]()
    yield from (WatchedAttempt(each.segments, each, text, languages[1], lost) for each in _in_plain_characters(lacks, text, latin=latin))
    if not lost:
        return
    written, spans = with_written(plain_characters(text, lacks), lost, *languages)
    also = sorted([*spans, *lacking_spans(written, [character for character in set(written) if lacks(character)])])
    ways = attempts(written, latin=latin, also=also, unchanged=False, placeholders=FOR_LOST)
    yield from (WatchedAttempt(each.segments, each, text, languages[1], lost) for each in ways if not isinstance(each, SplitAttempt))
    yield from _in_plain_characters(lacks, text, latin=latin)


def _in_plain_characters(lacks: Lacks, text: str, *, latin: bool) -> Iterator[Attempt]:
    plain = plain_characters(text, lacks)
    if plain != text:
        ways = _attempts(lacks, plain, latin=latin)
        yield from (PlainAttempt(each.segments, each, text, partial(plain_characters, lacks=lacks)) for each in ways)
    else:
        yield from _attempts(lacks, text, latin=latin)


def _attempts(lacks: Lacks, text: str, *, latin: bool) -> Iterator[Attempt]:
    protected = protected_spans(text, latin=latin)
    parts = split_at(text, protected)
    lacking = "".join(sorted(character for character in set("".join(parts[::2])) if lacks(character)))
    spans = lacking_spans(text, lacking)
    known = _known(text, lacking, lacks)
    if known:
        parts[::2] = ["".join(known.get(character, character) for character in part) for part in parts[::2]]
        shown = "".join(parts)
        pairs = list(zip(text, shown, strict=True))
        written_back = {sign for character, sign in known.items() if character not in _DOUBLE_QUOTES}
        written_back |= set("()") if written_back & set("()") else set()  # none is added in the output either
        originals = {sign: "".join(old for old, new in pairs if new == sign) for sign in written_back}
        rest = lacking_spans(shown, [character for character in lacking if character not in known])
        kept = tuple(text[start:end] for start, end in protected)
        yield from (StandInAttempt(each.segments, each, originals, text, kept) for each in attempts(shown, latin=latin, also=rest))
    yield from attempts(text, latin=latin, also=spans, unchanged=not known)


def lacking_spans(text: str, lacking: Collection[str]) -> list[Span]:
    """Offsets (start, end), in order, of the signs and Latin letters of `text` that are `lacking`, with their word or number.

    "*" and "_" at one side of a word are a span without it, because they mark emphasis. A "&" between words is none, because it
    is a word that is translated.
    """
    signs = [character for character in lacking if not character.isspace() and _is_sign(character)]
    if not signs:
        return []
    sign = f"[{re.escape(''.join(signs))}]"
    currencies = re.escape("".join(character for character in signs if unicodedata.category(character) == "Sc"))
    amount = rf"[{currencies}]\s?{_NUMBER}|(?<![\w.,]){_NUMBER}\s?[{currencies}]|" if currencies else ""
    strong = "|".join(re.escape(character) for character in signs if character not in "*_")
    inner = rf"(?:(?:{strong})+|(?<=\w)[*_]+(?=\w))" if strong else r"(?<=\w)[*_]+(?=\w)"
    matches = re.finditer(rf"{amount}(?<!\w)(?:{_WORD})?(?:{inner}(?:{_WORD})?)+|{sign}", text)
    return [found.span() for found in matches if found.group() != "&"]


def _is_sign(character: str) -> bool:
    category = unicodedata.category(character)
    if category[0] == "L" and not is_raised(character):
        return not character.isascii() and unicodedata.name(character, "").startswith("LATIN")
    return category[0] in "PSNL" and category not in _TRANSLATED and not character.isdecimal() and character not in _STOPS


def _known(text: str, lacking: Collection[str], lacks: Lacks) -> dict[str, str]:
    """For each character of `text` that another one can stand for, that one.

    A "$" stands for one currency only, and for none if it is in the text itself. If one quotation mark is lacking,
    all are replaced.
    """
    known = {character: _KNOWN.get(unicodedata.category(character), "") for character in lacking if character not in _STOPS}
    if any(mark in lacking for mark in _DOUBLE_QUOTES):
        known |= dict.fromkeys(_DOUBLE_QUOTES, '"')
    if "$" in text or sum(sign == "$" for sign in known.values()) > 1:
        known = {character: sign for character, sign in known.items() if sign != "$"}
    return {character: sign for character, sign in known.items() if sign and not lacks(sign)}
