"""The M2 format: sentences with the edits of one or several annotators."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.lines import read_text_lines

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class GoldEdit:
    """An annotator's edit: the source tokens `start` to `end` (exclusive) should be replaced by one of `corrections`."""

    start: int
    end: int
    corrections: tuple[Tokens, ...]


@dataclass(frozen=True)
class AnnotatedSentence:
    """The tokens of a sentence, and the edits of each annotator (at least one) by the annotator's number."""

    source: Tokens
    annotators: Mapping[int, tuple[GoldEdit, ...]]


def read_m2(path: Path) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of an M2 file, which are separated by blank lines: an S line, then an A line for each edit.

    The annotators of a sentence are those with an A line; an annotator with only a `noop` line has no edits. A sentence without
    A lines has annotator 0 without edits. Raises InputError naming a malformed line.
    """
    block: list[tuple[str, str]] = []
    for number, line in enumerate(chain(read_text_lines(path), [""]), start=1):
        if line.strip():
            block.append((f"{path}, line {number}", line))
        elif block:
            yield _parse_block(block)
            block = []


def apply_gold_edits(source: Sequence[str], edits: Iterable[GoldEdit]) -> Tokens:
    """Apply `edits` to the tokens `source`, each with its first correction. Raises ValueError for overlapping edits."""
    tokens: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < position:
            raise ValueError(f"the edit of tokens {edit.start} to {edit.end} overlaps another, which ends at {position}")
        tokens += [*source[position : edit.start], *edit.corrections[0]]
        position = edit.end
    return (*tokens, *source[position:])


def _parse_block(block: Sequence[tuple[str, str]]) -> AnnotatedSentence:
    (location, first), *others = block
    mark, *source = first.split()
    if mark != "S":
        raise InputError(f"{location}: a sentence must begin with an S line, not with {mark!r}")
    annotators: dict[int, tuple[GoldEdit, ...]] = {}
    for location, line in others:
        annotator, edits = _parse_edit(location, line, len(source))
        annotators[annotator] = annotators.get(annotator, ()) + edits
    return AnnotatedSentence(tuple(source), dict(sorted(annotators.items())) or {0: ()})


def _parse_edit(location: str, line: str, length: int) -> tuple[int, tuple[GoldEdit, ...]]:
    """The annotator of an A line, and its edit; no edit for `noop`."""
    try:
        span, kind, corrections, _, _, annotator = line.removeprefix("A ").split("|||")
        start, end = map(int, span.split())
        number = int(annotator)
    except ValueError:
        raise InputError(f"{location}: not `A start end|||type|||correction|||...|||...|||annotator`") from None
    if kind == "noop":
        return number, ()
    if not 0 <= start <= end <= length:
        raise InputError(f"{location}: an edit of tokens {start} to {end}, but the sentence has {length}")
    return number, (GoldEdit(start, end, tuple(() if text == "-NONE-" else tuple(text.split()) for text in corrections.split("||"))),)
