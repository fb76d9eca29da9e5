"""MaxMatch (M2), for grammatical error correction: the most edits of a text, over all alignments, that equal an annotator's edits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from specdec_cli.text.corpus.parallel import AnnotatedSentence, GoldEdit, Tokens

MAX_UNCHANGED = 2
_FULL = MAX_UNCHANGED + 1
# A node of the alignment lattice: numbers of consumed source and hypothesis tokens.
_Node = tuple[int, int]
# The successors of each node, in topological order, and whether the step to a successor changes a token.
_Lattice = dict[_Node, dict[_Node, bool]]
# For each node, the nodes that a gold edit leads to, with the number of the edit (from 1).
_Arcs = dict[_Node, list[tuple[_Node, int]]]
# The number of unchanged tokens since the last change, which an edit may include (_FULL: too many to extend the edit); and the
# number of the last gold insertion at this source position, so that no insertion is applied twice.
_State = tuple[int, int]
# The cost of a path, compared lexicographically: minus the gold edits, the steps outside of gold edits, the other edits.
_Cost = tuple[int, int, int]


@dataclass(frozen=True)
class MaxMatch:
    """Numbers of edits: those in the scored text (`proposed`), those of the annotator (`gold`), and those in both (`correct`)."""

    correct: int
    proposed: int
    gold: int

    @property
    def precision(self) -> float:
        """The percentage of proposed edits that are correct, from 0 to 100; 100 if none are proposed."""
        return 100 * self.correct / self.proposed if self.proposed else 100.0

    @property
    def recall(self) -> float:
        """The percentage of gold edits that are proposed, from 0 to 100; 100 if there are no gold edits."""
        return 100 * self.correct / self.gold if self.gold else 100.0

    @property
    def f05(self) -> float:
        """F0.5 from 0 to 100, which weighs precision twice as much as recall; 100 if there are neither proposed nor gold edits."""
        return 125 * self.correct / (self.proposed + 0.25 * self.gold) if self.proposed or self.gold else 100.0

    def __add__(self, other: "MaxMatch") -> "MaxMatch":
        return MaxMatch(self.correct + other.correct, self.proposed + other.proposed, self.gold + other.gold)


def max_match(hypotheses: Sequence[str], gold: Sequence[AnnotatedSentence]) -> MaxMatch:
    """Compare the edits in the corrected sentences `hypotheses` with those of annotators (Dahlmeier and Ng 2012).

    Tokens of `hypotheses` are separated by white space. As in the authors' scorer, each sentence is compared with the
    annotator for whom F0.5 of all sentences so far is largest; on ties, with more correct, then fewer proposed and gold edits.
    Raises ValueError for unequal numbers of lines.
    """
    if len(hypotheses) != len(gold):
        raise ValueError(f"{len(hypotheses)} lines and {len(gold)} annotated sentences")
    total = MaxMatch(0, 0, 0)
    for hypothesis, annotated in zip(hypotheses, gold, strict=True):
        total = max((total + counts for counts in _by_annotator(annotated, tuple(hypothesis.split()))), key=preference)
    return total


def preference(counts: MaxMatch) -> tuple[float, int, float]:
    """A key that orders counts as the authors' scorer does: by F0.5, then more correct, then fewer proposed and gold edits."""
    return counts.f05, counts.correct, -(counts.proposed + 0.25 * counts.gold)


def _by_annotator(annotated: AnnotatedSentence, hypothesis: Tokens) -> Iterator[MaxMatch]:
    lattice = _lattice(annotated.source, hypothesis)
    for edits in annotated.annotators.values():
        correct, others = _best_path(lattice, _gold_arcs(lattice, annotated.source, hypothesis, edits))
        yield MaxMatch(correct, correct + others, len(edits))


def _lattice(source: Tokens, hypothesis: Tokens) -> _Lattice:
    """The lattice of all alignments of least cost, for substitution costs of 1 and of 2 (as in the authors' scorer)."""
    differs = (np.array(source, dtype=object)[:, None] != np.array(hypothesis, dtype=object)).astype(np.int64)
    prices = np.array([differs, 2 * differs])
    from_start, to_end = _costs(prices), _costs(prices[:, ::-1, ::-1])[:, ::-1, ::-1]
    lattice: _Lattice = {(len(source), len(hypothesis)): {}}
    for down, right, price in ((1, 1, prices), (1, 0, 1), (0, 1, 1)):
        rows, columns = len(source) + 1 - down, len(hypothesis) + 1 - right
        least = from_start[:, :rows, :columns] + price + to_end[:, down:, right:] == from_start[:, -1:, -1:]
        for row, column in np.argwhere(least.any(axis=0)).tolist():
            changed = not (down and right) or bool(differs[row, column])
            lattice.setdefault((row, column), {})[row + down, column + right] = changed
    return dict(sorted(lattice.items()))


def _costs(substitutions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The least cost to reach each node (P, S + 1, H + 1), given the substitution costs (P, S, H) for P price schemes."""
    count, rows, columns = substitutions.shape
    ramp = np.arange(columns + 1)
    costs = np.empty((count, rows + 1, columns + 1), dtype=np.int64)
    costs[:, 0] = ramp
    for row in range(rows):
        least = costs[:, row] + 1
        least[:, 1:] = np.minimum(least[:, 1:], costs[:, row, :-1] + substitutions[:, row])
        # An insertion costs 1 per column. Subtracting the column makes insertions free, so a running minimum applies them.
        costs[:, row + 1] = np.minimum.accumulate(least - ramp, axis=1) + ramp
    return costs


def _gold_arcs(lattice: _Lattice, source: Tokens, hypothesis: Tokens, edits: Sequence[GoldEdit]) -> _Arcs:
    arcs: _Arcs = {}
    for number, edit in enumerate(edits, start=1):
        for start, correction in product([node for node in lattice if node[0] == edit.start], edit.corrections):
            end = (edit.end, start[1] + len(correction))
            made = hypothesis[start[1] : end[1]] == correction != source[edit.start : edit.end]
            if made and end in lattice and _is_one_edit(lattice, start, end):
                arcs.setdefault(start, []).append((end, number))
    return arcs


def _is_one_edit(lattice: _Lattice, start: _Node, end: _Node) -> bool:
    """Whether the path from `start` to `end` can be one edit: some path has at most MAX_UNCHANGED unchanged tokens."""
    unchanged = {start: 0}
    for node in product(range(start[0], end[0] + 1), range(start[1], end[1] + 1)):
        if node in unchanged:
            for successor, changed in lattice[node].items():
                unchanged[successor] = min(unchanged.get(successor, _FULL), unchanged[node] + (not changed))
    return unchanged.get(end, _FULL) <= MAX_UNCHANGED


def _best_path(lattice: _Lattice, gold: _Arcs) -> tuple[int, int]:
    """The numbers of gold edits and of other edits on the best path.

    The best path has the most gold edits, then the fewest steps outside of them, then the fewest other edits.
    """
    best: dict[_Node, dict[_State, _Cost]] = {node: {} for node in lattice}
    best[0, 0][_FULL, 0] = (0, 0, 0)
    for node, states in best.items():
        for state, (matches, steps, others) in states.items():
            for successor, next_state, added in _moves(node, state, lattice, gold):
                cost = (matches + added[0], steps + added[1], others + added[2])
                best[successor][next_state] = min(cost, best[successor].get(next_state, cost))
    matches, _, others = min(states.values())
    return -matches, others


def _moves(node: _Node, state: _State, lattice: _Lattice, gold: _Arcs) -> Iterator[tuple[_Node, _State, _Cost]]:
    unchanged, inserted = state
    for successor, changed in lattice[node].items():
        before = inserted if successor[0] == node[0] else 0
        if changed and unchanged == _FULL:
            yield successor, (0, before), (0, 1, 1)
        else:
            yield successor, (unchanged if changed else min(unchanged + 1, _FULL), before), (0, 1, 0)
    for successor, number in gold.get(node, ()):
        if successor[0] > node[0]:
            yield successor, (_FULL, 0), (-1, 0, 0)
        elif number > inserted:
            yield successor, (_FULL, number), (-1, 0, 0)
