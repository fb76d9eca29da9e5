"""Edits with the types of the errors that they correct."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from specdec_cli.error_types.rules import error_type
from specdec_cli.error_types.tagging import Word, tagged, tagged_roughly
from specdec_cli.text.edits import Change, Edit, apply_edits

# As spaCy divides English, by whose tokens ERRANT finds types: abbreviations and ordinal numbers are one token.
_TOKEN = re.compile(
    r"(?:[^\W\d_]\.){2,}|\b(?:Mrs?|Ms|Dr|St|Prof|Inc|Ltd|Co|Corp|Jr|Sr|vs)\.(?=\s*\w)|[^\W\d_]+?(?=n['\u2019]t\b)|n['\u2019]t\b"
    r"|['\u2019](?:s|m|re|ve|ll|d)\b|\d+(?:st|nd|rd|th|s)\b|\d+(?:[.,:]\d+)*|[^\W\d_]+\d+\b|[^\W\d_]+|\.{2,}|-{2,}|\S",
    re.IGNORECASE,
)


class Token(NamedTuple):
    """A token, and its offsets in the text, in code points."""

    text: str
    start: int
    end: int


def tokenized(text: str) -> list[Token]:
    """The tokens of `text`, with straight apostrophes."""
    return [Token(match.group().replace("\u2019", "'"), *match.span()) for match in _TOKEN.finditer(text)]


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


_MOST_WORDS = 3
"""Words that a moved word passes."""


def with_moves(source: str, edits: Sequence[Edit], tags: Sequence[int] = ()) -> list[Edit]:
    """Return `edits` of the text `source`, in order, in which each move of a word is one edit.

    A move inserts a word and deletes the same word, with one to three unchanged words between both. Its score is the sum of their scores.
    It passes none of the offsets `tags`, where the text has markup.
    """
    merged: list[Edit] = []
    for edit in edits:
        if merged and _is_move(source, merged[-1], edit) and not any(merged[-1].start <= tag <= edit.end for tag in tags):
            edit = _joined(source, merged.pop(), edit)
        merged.append(edit)
    return merged


def _is_move(source: str, first: Edit, second: Edit) -> bool:
    """Whether one of two edits, in order, inserts the words that the other one deletes."""
    if bool(first.source) == bool(first.text) or (first.source.strip(), first.text.strip()) != (second.text.strip(), second.source.strip()):
        return False
    moved, passed = (first.source or first.text).split(), source[first.end : second.start].split()
    return all(map(str.isalpha, (*moved, *passed))) and bool(moved) and 1 <= len(passed) <= _MOST_WORDS


def _joined(source: str, first: Edit, second: Edit) -> Edit:
    """One edit for two, without the space at which both begin."""
    old = source[first.start : second.end]
    new = first.text + source[first.end : second.start] + second.text
    space = 1 if old[:1] == new[:1] == " " else 0
    return first._replace(
        start=first.start + space,
        end=second.end,
        source=old[space:],
        text=new[space:],
        output=(first.output[0] + space, second.output[1]),
        score=None if first.score is None or second.score is None else first.score + second.score,
    )


def with_types(source: str, edits: Sequence[Edit], *, english: bool = True, tags: Sequence[int] = ()) -> list[Edit]:
    """Return `edits` of the text `source`, in order, with their types; a move of a word is one edit (see `with_moves`, also for `tags`).

    For another language than English, these are PUNCT, ORTH, WO and OTHER only.
    """
    edits = with_moves(source, edits, tags)
    before, after = tokenized(source), tokenized(apply_edits(source, edits))
    tag = tagged if english else tagged_roughly
    old, new = tag([token.text for token in before]), tag([token.text for token in after])
    spans = token_spans(before, after, edits)
    return [edit._replace(types=_types(old, new, span)) for edit, span in zip(edits, spans, strict=True)]


def _types(old: Sequence[Word], new: Sequence[Word], span: TokenSpan) -> tuple[str, ...]:
    """The type of an edit; those of its words if it has none of its own and as many words before as after."""
    sides = old[span.start : span.end], new[span.first : span.last]
    found = error_type(*sides)
    if found != "R:OTHER" or len(sides[0]) != len(sides[1]):
        return (found,)
    return tuple(dict.fromkeys(error_type([one], [other]) for one, other in zip(*sides, strict=True) if one.text != other.text))
