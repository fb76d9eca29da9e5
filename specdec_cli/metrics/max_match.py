"""MaxMatch, for corrected grammar: how many of an annotator's edits a text makes, however it is aligned with its source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from specdec_cli.metrics.m2 import Annotated, Edit, Tokens

MAX_UNCHANGED = 2
_CLOSED = MAX_UNCHANGED + 1
# How many tokens of source and hypothesis are behind.
_Node = tuple[int, int]
# From each node, in topological order, its successors, and whether the step there changes anything.
_Lattice = dict[_Node, dict[_Node, bool]]
# From each node, the nodes that lie one gold edit ahead, and the number of that edit from 1.
_Arcs = dict[_Node, list[tuple[_Node, int]]]
# Unchanged tokens that the last edit would take in if it went on, _CLOSED if it cannot; and the last gold edit that
# was inserted at this place of the source, so that none is inserted twice.
_State = tuple[int, int]
# What a path should have least of: gold edits (counted below zero), then steps outside of them, then other edits.
_Cost = tuple[int, int, int]


@dataclass(frozen=True)
class MaxMatch:
    """How many edits are correct, of those that a text makes and of those that it should make."""

    correct: int
    proposed: int
    gold: int

    @property
    def precision(self) -> float:
        """Per cent of the proposed edits that are correct; 100 if none are proposed."""
        return 100 * self.correct / self.proposed if self.proposed else 100.0

    @property
    def recall(self) -> float:
        """Per cent of the gold edits that are made; 100 if there are none."""
        return 100 * self.correct / self.gold if self.gold else 100.0

    @property
    def f05(self) -> float:
        """F0.5 in per cent, for which precision matters twice as much as recall; 100 if nothing is proposed or gold."""
        return 125 * self.correct / (self.proposed + 0.25 * self.gold) if self.proposed or self.gold else 100.0

    def __add__(self, other: "MaxMatch") -> "MaxMatch":
        return MaxMatch(self.correct + other.correct, self.proposed + other.proposed, self.gold + other.gold)


def max_match(hypotheses: Sequence[str], gold: Sequence[Annotated]) -> MaxMatch:
    """What a corpus has of `gold` (Dahlmeier and Ng 2012); tokens of `hypotheses` are what white space parts.

    A sentence is held to the annotator by whom F0.5 of all sentences so far is highest, as in the authors' scorer;
    at a tie to the one with more correct edits, then with fewer proposed and gold. An unchanged text has precision 100.
    Raises ValueError for unequal numbers of lines.
    """
    if len(hypotheses) != len(gold):
        raise ValueError(f"{len(hypotheses)} lines and {len(gold)} annotated sentences")
    total = MaxMatch(0, 0, 0)
    for hypothesis, annotated in zip(hypotheses, gold, strict=True):
        total = max((total + counts for counts in _by_annotator(annotated, tuple(hypothesis.split()))), key=_preference)
    return total


def _preference(counts: MaxMatch) -> tuple[float, int, float]:
    return counts.f05, counts.correct, -(counts.proposed + 0.25 * counts.gold)


def _by_annotator(annotated: Annotated, hypothesis: Tokens) -> Iterator[MaxMatch]:
    lattice = _lattice(annotated.source, hypothesis)
    for edits in annotated.annotators.values():
        correct, others = _best_path(lattice, _gold_arcs(lattice, annotated.source, hypothesis, edits))
        yield MaxMatch(correct, correct + others, len(edits))


def _lattice(source: Tokens, hypothesis: Tokens) -> _Lattice:
    """Every way to align both at the least cost, where a substitution costs as much as an insertion, or else twice as much.

    The authors' scorer, too, joins the ways by either price.
    """
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
    """The least cost to each node, (prices, source + 1, hypothesis + 1), by the price of each (prices, source, hypothesis)."""
    count, rows, columns = substitutions.shape
    ramp = np.arange(columns + 1)
    costs = np.empty((count, rows + 1, columns + 1), dtype=np.int64)
    costs[:, 0] = ramp
    for row in range(rows):
        least = costs[:, row] + 1
        least[:, 1:] = np.minimum(least[:, 1:], costs[:, row, :-1] + substitutions[:, row])
        # An insertion costs 1 a column: less that, the cheapest way from the left is a running minimum.
        costs[:, row + 1] = np.minimum.accumulate(least - ramp, axis=1) + ramp
    return costs


def _gold_arcs(lattice: _Lattice, source: Tokens, hypothesis: Tokens, edits: Sequence[Edit]) -> _Arcs:
    arcs: _Arcs = {}
    for number, edit in enumerate(edits, start=1):
        for start, correction in product([node for node in lattice if node[0] == edit.start], edit.corrections):
            end = (edit.end, start[1] + len(correction))
            made = hypothesis[start[1] : end[1]] == correction != source[edit.start : edit.end]
            if made and end in lattice and _joined(lattice, start, end):
                arcs.setdefault(start, []).append((end, number))
    return arcs


def _joined(lattice: _Lattice, start: _Node, end: _Node) -> bool:
    """Whether the steps from `start` to `end` can be one edit: some way leaves no more than MAX_UNCHANGED tokens as they are."""
    fewest = {start: 0}
    for node in product(range(start[0], end[0] + 1), range(start[1], end[1] + 1)):
        if node in fewest:
            for ahead, changed in lattice[node].items():
                fewest[ahead] = min(fewest.get(ahead, _CLOSED), fewest[node] + (not changed))
    return fewest.get(end, _CLOSED) <= MAX_UNCHANGED


def _best_path(lattice: _Lattice, gold: _Arcs) -> tuple[int, int]:
    """How many gold edits and how many others the path makes that makes most gold edits.

    Of several such it is the one with fewest steps outside of them, then with fewest other edits.
    """
    best: dict[_Node, dict[_State, _Cost]] = {node: {} for node in lattice}
    best[0, 0][_CLOSED, 0] = (0, 0, 0)
    for node, states in best.items():
        for state, (matches, steps, others) in states.items():
            for ahead, then, more in _moves(node, state, lattice, gold):
                cost = (matches + more[0], steps + more[1], others + more[2])
                best[ahead][then] = min(cost, best[ahead].get(then, cost))
    matches, _, others = min(states.values())
    return -matches, others


def _moves(node: _Node, state: _State, lattice: _Lattice, gold: _Arcs) -> Iterator[tuple[_Node, _State, _Cost]]:
    unchanged, inserted = state
    for ahead, changed in lattice[node].items():
        before = inserted if ahead[0] == node[0] else 0
        if changed and unchanged == _CLOSED:
            yield ahead, (0, before), (0, 1, 1)
        else:
            yield ahead, (unchanged if changed else min(unchanged + 1, _CLOSED), before), (0, 1, 0)
    for ahead, number in gold.get(node, ()):
        if ahead[0] > node[0]:
            yield ahead, (_CLOSED, 0), (-1, 0, 0)
        elif number > inserted:
            yield ahead, (_CLOSED, number), (-1, 0, 0)
