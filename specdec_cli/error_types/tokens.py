"""Tokens of text as ERRANT has them: clitics (n't, 's) and hyphens are tokens of their own."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from specdec_cli.text.edits import Change

_TOKEN = re.compile(
    r"[^\W\d_]+?(?=n['\u2019]t\b)|n['\u2019]t\b|['\u2019](?:s|m|re|ve|ll|d)\b|\d+(?:[.,:]\d+)*|[^\W\d_]+|\.{2,}|\S",
    re.IGNORECASE,
)


class Token(NamedTuple):
    """A token, and its offsets in the text, in code points."""

    text: str
    start: int
    end: int


def tokenized(text: str) -> list[Token]:
    """The tokens of `text`, with straight apostrophes."""
    return [Token(found.group().replace("\u2019", "'"), *found.span()) for found in _TOKEN.finditer(text)]


class TokenSpan(NamedTuple):
    """The tokens `start` to `end` (exclusive) of the text before an edit, and `first` to `last` of the text after it."""

    start: int
    end: int
    first: int
    last: int


def token_spans(before: Sequence[Token], after: Sequence[Token], edits: Sequence[Change]) -> list[TokenSpan]:
    """The tokens that each edit changes, without equal ones at its ends; `after` are the tokens of the text with all `edits` made."""
    found, shift = [], 0
    for edit in edits:
        start, end = _touched(before, edit.start, edit.end)
        first, last = _touched(after, edit.start + shift, edit.start + shift + len(edit.text))
        shift += len(edit.text) - (edit.end - edit.start)
        while start < end and first < last and before[end - 1].text == after[last - 1].text:
            end, last = end - 1, last - 1
        while start < end and first < last and before[start].text == after[first].text:
            start, first = start + 1, first + 1
        found.append(TokenSpan(start, end, first, last))
    return found


def _touched(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """The tokens of which a character is between two offsets; an edit inside a token or at its end touches that token."""
    first = bisect_right(tokens, start, key=lambda token: token.end)
    return first, max(first, bisect_left(tokens, end, key=lambda token: token.start))
