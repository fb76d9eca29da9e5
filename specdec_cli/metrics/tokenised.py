"""Tokenised text, as data sets of corrected grammar have it: joined for a model to read, and cut again to be scored."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from specdec_cli.text.edits import Edit, Span, apply_edits, find_edits

# Parts of a word that the tokenisers of these data sets cut off, and Moses does not put back.
_PARTS = re.compile(r" (n['’]t)\b", re.IGNORECASE)  # noqa: RUF001
_TOKEN = re.compile(
    r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"  # noqa: RUF001
    r"|(?:[a-z]\.){2,}|\w+(?:[-.,]\w+)*|\.\.\.|[^\w\s]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Tokenised:
    """The tokens of a sentence, the raw text that they stand for, and the offsets of each token in it.

    Where the text was `kept`, a space ends a token, and nothing else does.
    """

    tokens: tuple[str, ...]
    raw: str
    spans: tuple[Span, ...]
    kept: bool = False

    def edited(self, changed: str) -> tuple[str, ...]:
        """The tokens of `changed`, another version of the raw text: those that no edit touches stay as they are."""
        if self.kept:
            return tuple(changed.split())
        tokens: list[str] = []
        done = 0
        for first, last, edits in self._by_tokens(find_edits(self.raw, changed)):
            start, end = edits[0].start, edits[-1].end
            if first < last:
                start, end = min(start, self.spans[first][0]), max(end, self.spans[last - 1][1])
            inside = [Edit(edit.start - start, edit.end - start, edit.source, edit.text) for edit in edits]
            tokens += [*self.tokens[done:first], *tokenise(apply_edits(self.raw[start:end], inside))]
            done = last
        return (*tokens, *self.tokens[done:])

    def _by_tokens(self, edits: Sequence[Edit]) -> list[tuple[int, int, list[Edit]]]:
        """Edits by the tokens that they touch, first to last but one (none for what comes between two); no token is in two groups."""
        groups: list[tuple[int, int, list[Edit]]] = []
        for edit in edits:
            first = sum(end <= edit.start for _, end in self.spans)
            last = max(first, sum(start < edit.end for start, _ in self.spans))
            if groups and first < groups[-1][1]:
                before = groups.pop()
                groups.append((before[0], max(last, before[1]), [*before[2], edit]))
            else:
                groups.append((first, last, [edit]))
        return groups


def detokenise(tokens: Sequence[str], language: str = "en") -> Tokenised:
    """Join tokens as Moses does, parts of words such as n't too."""
    if any(token.startswith("@") and token.endswith("@") and len(token) > 2 for token in tokens):
        return as_it_stands(tokens)  # Moses reads these as marks of its own
    raw = _PARTS.sub(r"\1", str(_moses(language).detokenize(list(tokens), unescape=False)))
    spans: list[Span] = []
    place = 0
    for token in tokens:
        # Only white space is lost or moved when tokens are joined.
        characters = [character for character in token if not character.isspace()]
        start = place
        for number, character in enumerate(characters):
            place = raw.index(character, place) + 1
            start = place - 1 if number == 0 else start
        spans.append((start, place))
    return Tokenised(tuple(tokens), raw, tuple(spans))


def as_it_stands(tokens: Sequence[str]) -> Tokenised:
    """Tokens with a space between them, for a model that reads tokenised text."""
    raw = " ".join(tokens)
    spans, place = [], 0
    for token in tokens:
        spans.append((place, place + len(token)))
        place += len(token) + 1
    return Tokenised(tuple(tokens), raw, tuple(spans), kept=True)


def tokenise(text: str) -> list[str]:
    """Words, parts of words such as n't and 's, and punctuation marks."""
    return _TOKEN.findall(text)


@cache
def _moses(language: str) -> Any:
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(lang=language)  # type: ignore[no-untyped-call]
