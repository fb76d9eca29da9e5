"""Detokenisation of the tokenised texts of grammar data sets, and tokenisation of corrected text for scoring."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from specdec_cli.text.edits import Edit, Span, apply_edits, find_edits

# Clitics that the tokenisers of these data sets split off and the Moses detokeniser does not join.
_CLITICS = re.compile(r" (n['’]t)\b", re.IGNORECASE)  # noqa: RUF001
_TOKEN = re.compile(
    r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"  # noqa: RUF001
    r"|(?:[a-z]\.){2,}|\w+(?:[-.,]\w+)*|\.\.\.|[^\w\s]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Tokenised:
    """The tokens of a sentence, its detokenised text `raw`, and the half-open code point offsets `spans` of each token in `raw`.

    `separated` is true if `raw` has a space between any two tokens, and nowhere else.
    """

    tokens: tuple[str, ...]
    raw: str
    spans: tuple[Span, ...]
    separated: bool = False

    def edit(self, changed: str) -> tuple[str, ...]:
        """Tokenise `changed`, an edited version of `raw`: tokens without changes are kept, and only changed text is tokenised."""
        if self.separated:
            return tuple(changed.split())
        tokens: list[str] = []
        position = 0
        for first, last, edits in self._by_tokens(find_edits(self.raw, changed)):
            start, end = edits[0].start, edits[-1].end
            if first < last:
                start, end = min(start, self.spans[first][0]), max(end, self.spans[last - 1][1])
            inside = [Edit(edit.start - start, edit.end - start, edit.source, edit.text) for edit in edits]
            tokens += [*self.tokens[position:first], *tokenise(apply_edits(self.raw[start:end], inside))]
            position = last
        return (*tokens, *self.tokens[position:])

    def _by_tokens(self, edits: Sequence[Edit]) -> list[tuple[int, int, list[Edit]]]:
        """Group edits by the tokens that they touch: (first token, end token (exclusive), edits). Groups share no token.

        The range is empty for an insertion between two tokens.
        """
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


def detokenise(tokens: Sequence[str]) -> Tokenised:
    """Join tokens with the Moses detokeniser for English, and join clitics such as n't to the word before them.

    If any token has the form @...@ (such as @-@), all tokens are joined with spaces instead.
    """
    if any(token.startswith("@") and token.endswith("@") and len(token) > 2 for token in tokens):
        return join_with_spaces(tokens)  # tokens like @-@ have a meaning for Moses
    raw = _CLITICS.sub(r"\1", str(_moses().detokenize(list(tokens), unescape=False)))
    spans: list[Span] = []
    position = 0
    for token in tokens:
        # Detokenisation removes and inserts only white space.
        characters = [character for character in token if not character.isspace()]
        start = position
        for number, character in enumerate(characters):
            position = raw.index(character, position) + 1
            start = position - 1 if number == 0 else start
        spans.append((start, position))
    return Tokenised(tuple(tokens), raw, tuple(spans))


def join_with_spaces(tokens: Sequence[str]) -> Tokenised:
    """Join tokens with single spaces, for a model whose input is tokenised text."""
    raw = " ".join(tokens)
    spans, position = [], 0
    for token in tokens:
        spans.append((position, position + len(token)))
        position += len(token) + 1
    return Tokenised(tuple(tokens), raw, tuple(spans), separated=True)


def tokenise(text: str) -> list[str]:
    """Split text into words, clitics such as n't and 's, and punctuation marks."""
    return _TOKEN.findall(text)


@cache
def _moses() -> Any:
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(lang="en")  # type: ignore[no-untyped-call]
