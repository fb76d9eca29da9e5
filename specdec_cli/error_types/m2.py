"""Corrected lines in M2 format, as the scorer of ERRANT (Bryant et al. 2017) reads it: tokens, and the edits of tokens with their types."""

import re
from collections.abc import Iterator, Sequence

from specdec_cli.error_types.annotation import Token, TokenSpan, token_spans, tokenized
from specdec_cli.text.edits import Edit, apply_edits

_DIVIDED = re.compile(r"\s[^\w\s]+\s*$")
_NOOP = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0"


def m2_block(source: str, edits: Sequence[Edit]) -> list[str]:
    """The lines of an M2 block with `edits` of the text `source`, which are in order and have types, and an empty last line.

    The tokens are those by which edits get their types. A text whose last mark stands alone is tokenised already, as data sets are: its
    tokens are between spaces. Edits of spaces alone are left out.
    """
    changed = apply_edits(source, edits)
    before, after = (_between_spaces if _DIVIDED.search(source) else tokenized)(source), tokenized(changed)
    lines = [f"S {_joined(source, before)}"]
    for span, type in _separate(token_spans(before, after, edits), edits):
        lines.append(f"A {span.start} {span.end}|||{type}|||{_joined(changed, after[span.first : span.last])}|||REQUIRED|||-NONE-|||0")
    return [*lines, *([_NOOP] if len(lines) == 1 else []), ""]


def _between_spaces(text: str) -> list[Token]:
    return [Token(match.group(), *match.span()) for match in re.finditer(r"\S+", text)]


def _joined(text: str, tokens: Sequence[Token]) -> str:
    return " ".join(text[token.start : token.end] for token in tokens)


def _separate(spans: Sequence[TokenSpan], edits: Sequence[Edit]) -> Iterator[tuple[TokenSpan, str]]:
    """The spans that have tokens, with the types of their edits; those that share a token are joined, with the type of the first."""
    last: tuple[TokenSpan, str] | None = None
    for span, edit in zip(spans, edits, strict=True):
        if span.start == span.end and span.first == span.last:
            continue
        if last is not None and (span.start < last[0].end or span.first < last[0].last):
            last = last[0]._replace(end=max(span.end, last[0].end), last=max(span.last, last[0].last)), last[1]
            continue
        if last is not None:
            yield last
        last = span, edit.type
    if last is not None:
        yield last
