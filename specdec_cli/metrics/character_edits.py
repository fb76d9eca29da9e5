"""Edits of characters, for grammatical error correction of text without spaces, after ChERRANT (Zhang et al. 2022, MuCGEC).

The alignment, the edits and the choice among annotators are ChERRANT's. Its lists of similar characters and meanings are not used:
all substitutions have the cost that ChERRANT gives to unrelated characters, and only text with the same characters moves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from specdec_cli.metrics.max_match import MaxMatch, preference
from specdec_cli.text.corpus.parallel import AnnotatedSentence

SUBSTITUTION = 17 / 12
"""The cost of a substitution: more than an insertion (1), less than an insertion and a deletion."""


@dataclass(frozen=True)
class CharacterEdit:
    """The characters `start` to `end` (exclusive) of a source are replaced by `text`."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=100_000)
def character_edits(source: str, changed: str) -> frozenset[CharacterEdit]:
    """The edits that turn `source` into `changed`, both without white space.

    Adjacent changes are one edit. So are adjacent characters that only change their order, and text that moves over unchanged text:
    a deletion and an insertion of the same characters.
    """
    if source == changed:
        return frozenset()
    edits: list[CharacterEdit] = []
    was_move = False
    for kind, start, end, text in _steps(source, changed):
        joined = bool(edits) and edits[-1].end == start and not was_move and kind != "move"
        before = edits.pop() if joined else CharacterEdit(start, start, "")
        edits.append(CharacterEdit(before.start, end, before.text + text))
        was_move = kind == "move"
    return frozenset(_with_moves(source, edits))


def _with_moves(source: str, edits: Sequence[CharacterEdit]) -> list[CharacterEdit]:
    """`edits`, in order, with one edit for a deletion and the insertion of the same characters that follows or precedes it."""
    found: list[CharacterEdit] = []
    for edit in edits:
        before = found[-1] if found else edit
        first, second = source[before.start : before.end], source[edit.start : edit.end]
        later = not before.text + second and sorted(first) == sorted(edit.text)
        earlier = not first + edit.text and sorted(before.text) == sorted(second)
        if before is not edit and (later or earlier):
            between = source[before.end : edit.start]
            found[-1] = CharacterEdit(before.start, edit.end, before.text + between + edit.text)
        else:
            found.append(edit)
    return found


def annotated_edits(one: AnnotatedSentence) -> list[frozenset[CharacterEdit]]:
    """The edits of each annotator of a sentence whose tokens are characters; of several corrections, the first."""
    return [
        frozenset(CharacterEdit(edit.start, edit.end, "".join(edit.corrections[0])) for edit in edits) for edits in one.annotators.values()
    ]


def match_characters(sources: Sequence[str], hypotheses: Sequence[str], gold: Sequence[Sequence[Iterable[CharacterEdit]]]) -> MaxMatch:
    """Count the edits in the corrected lines `hypotheses` that equal an annotator's; `gold` has the edits of each annotator of a line.

    White space is ignored. Each line is compared with the annotator for whom F0.5 of all lines so far is largest, as in ChERRANT.
    Raises ValueError for unequal numbers of lines.
    """
    total = MaxMatch(0, 0, 0)
    for source, hypothesis, annotators in zip(sources, hypotheses, gold, strict=True):
        own = character_edits(without_spaces(source), without_spaces(hypothesis))
        sums = (total + MaxMatch(len(own & set(edits)), len(own), len(set(edits))) for edits in annotators)
        total = max(sums, key=preference)
    return total


def without_spaces(text: str) -> str:
    """`text` without white space."""
    return "".join(text.split())


def _steps(source: str, changed: str) -> list[tuple[str, int, int, str]]:
    """The changes of an alignment of least cost, in order: kind, start and end in `source`, and the new text."""
    moves = _moves(source, changed)
    row, column = len(source), len(changed)
    steps = []
    while row or column:
        kind, down, right = moves[row][column]
        if kind != "match":
            steps.append((kind, row - down, row, changed[column - right : column]))
        row, column = row - down, column - right
    return steps[::-1]


def _moves(source: str, changed: str) -> list[list[tuple[str, int, int]]]:
    """For each pair of prefixes the last move of its best alignment: kind, characters of `source`, characters of `changed`."""
    costs = [[float(row or column) if not row * column else 0.0 for column in range(len(changed) + 1)] for row in range(len(source) + 1)]
    moves = [[("delete", 1, 0) if row else ("insert", 0, 1) for _ in range(len(changed) + 1)] for row in range(len(source) + 1)]
    for row, old in enumerate(source):
        for column, new in enumerate(changed):
            if old == new:
                costs[row + 1][column + 1], moves[row + 1][column + 1] = costs[row][column], ("match", 1, 1)
                continue
            moved, count = _transposed(source, changed, row, column, costs)
            choices = (
                (moved, ("move", count, count)),
                (costs[row][column] + SUBSTITUTION, ("replace", 1, 1)),
                (costs[row + 1][column] + 1, ("insert", 0, 1)),
                (costs[row][column + 1] + 1, ("delete", 1, 0)),
            )
            costs[row + 1][column + 1], moves[row + 1][column + 1] = min(choices, key=lambda choice: choice[0])
    return moves


def _transposed(source: str, changed: str, row: int, column: int, costs: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The cost, and the number of characters, if the last characters up to `row` and `column` only change their order; else infinity."""
    back = 1
    while back <= min(row, column) and costs[row - back + 1][column - back + 1] != costs[row - back][column - back]:
        if sorted(source[row - back : row + 1]) == sorted(changed[column - back : column + 1]):
            return costs[row - back][column - back] + back, back + 1
        back += 1
    return float("inf"), 0
