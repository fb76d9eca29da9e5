"""Corrected grammar in M2 format: sentences, and what annotators would change in them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.lines import read_text_lines

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Edit:
    """Source tokens from `start` up to but without `end`, and what may stand in their place: any of `corrections`."""

    start: int
    end: int
    corrections: tuple[Tokens, ...]


@dataclass(frozen=True)
class Annotated:
    """The tokens of a sentence, and what should be changed, by annotator's number; there is always an annotator."""

    source: Tokens
    annotators: Mapping[int, tuple[Edit, ...]]


def read_m2(path: Path) -> Iterator[Annotated]:
    """The sentences of an M2 file: an S line, then an A line for each edit, and a blank line between sentences.

    Only those annotators judge a sentence who have a line there; `noop` says that nothing should be changed. Without any
    A line there is annotator 0, who changes nothing. Raises InputError.
    """
    block: list[tuple[str, str]] = []
    for number, line in enumerate(chain(read_text_lines(path), [""]), start=1):
        if line.strip():
            block.append((f"{path}, line {number}", line))
        elif block:
            yield _annotated(block)
            block = []


def apply_edits(source: Sequence[str], edits: Iterable[Edit]) -> Tokens:
    """The tokens of `source` after all `edits`, each by its first correction. Raises ValueError for edits that overlap."""
    tokens: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < done:
            raise ValueError(f"the edit of tokens {edit.start} to {edit.end} overlaps another, which ends at {done}")
        tokens += [*source[done : edit.start], *edit.corrections[0]]
        done = edit.end
    return (*tokens, *source[done:])


def _annotated(block: Sequence[tuple[str, str]]) -> Annotated:
    (place, first), *others = block
    mark, *source = first.split()
    if mark != "S":
        raise InputError(f"{place}: a sentence must begin with an S line, not with {mark!r}")
    annotators: dict[int, tuple[Edit, ...]] = {}
    for place, line in others:
        annotator, edits = _edits(place, line, len(source))
        annotators[annotator] = annotators.get(annotator, ()) + edits
    return Annotated(tuple(source), dict(sorted(annotators.items())) or {0: ()})


def _edits(place: str, line: str, length: int) -> tuple[int, tuple[Edit, ...]]:
    """The annotator of an A line, and its edit unless it is a noop."""
    try:
        span, kind, corrections, _, _, annotator = line.removeprefix("A ").split("|||")
        start, end = map(int, span.split())
        number = int(annotator)
    except ValueError:
        raise InputError(f"{place}: not `A start end|||type|||correction|||...|||...|||annotator`") from None
    if kind == "noop":
        return number, ()
    if not 0 <= start <= end <= length:
        raise InputError(f"{place}: an edit of tokens {start} to {end}, but the sentence has {length}")
    return number, (Edit(start, end, tuple(() if text == "-NONE-" else tuple(text.split()) for text in corrections.split("||"))),)
