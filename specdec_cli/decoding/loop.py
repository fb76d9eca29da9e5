"""Draft, verify, accept: the one loop behind every decoding that keeps the verifier's output."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from specdec_cli.decoding.accept import Rule
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.execution.prefetch import Waiting
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import VACANT, Accepted, Draft, State
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.rows import keep_rows, replace_rows


@dataclass(frozen=True)
class Round:
    """One round as an onlooker sees it, before the state advances."""

    state: State
    draft: Draft
    accepted: Accepted


@dataclass(frozen=True)
class LoopOptions:
    """How to decode: the acceptance rule, sentences at a time, tokens a sentence, and whether to compute scores."""

    rule: Rule
    batch_size: int = 1
    max_length: int | None = None
    with_scores: bool = False


LEAVING = 4
"""When one in so many rows is finished, they leave and others enter."""

Onlooker = Callable[[Round], None]


@torch.inference_mode()
def decode(
    verifier: Verifier, drafter: Drafter, sentences: Iterable[Sentence], options: LoopOptions, onlooker: Onlooker | None = None
) -> Iterator[Hypothesis]:
    """Decode `sentences`, which share their source width, and hand each over as soon as it is done.

    Generalized aggressive decoding (technical report, Section 3.2; Algorithm 1 for the round).
    """
    # On a side as many are encoded ahead as leave at a time.
    waiting = Waiting(sentences, partial(_enter, verifier, drafter, options), verifier.side, -(-options.batch_size // LEAVING))
    with verifier.placing(options.batch_size) as place:
        state = place(waiting.take(options.batch_size))
        while state is not None:
            draft = drafter.propose(state)
            verdict = verifier.verify(state, draft, options.rule, with_scores=options.with_scores)
            if onlooker is not None:
                onlooker(Round(state, draft, verdict.accepted))
            drafter.observe(state, verdict)
            done = verifier.advance(state, verdict) - state.vacant
            if LEAVING * done >= len(state.finished) - state.vacant:
                yield from finished_rows(state, options.with_scores)
                entering = waiting.take(done)
                all_done = done == len(state.finished) - state.vacant
                state = place(entering if all_done else _exchange(state, entering, keep_finished=verifier.skips(options.rule)))


def _enter(verifier: Verifier, drafter: Drafter, options: LoopOptions, entering: Sequence[Sentence]) -> State:
    state = verifier.begin([s.number for s in entering], [s.source for s in entering], options.max_length)
    state.drafting = drafter.begin(state)
    return state


def _exchange(state: State, entering: State | None, *, keep_finished: bool) -> State:
    """Rows that enter take the places of finished ones. Other finished rows leave, or are kept as vacant."""
    free = state.finished.nonzero()[:, 0]
    taken = 0 if entering is None else len(entering.lengths)
    if entering is not None:
        state = replace_rows(state, free[:taken], entering)
    if not keep_finished:
        return state if taken == len(free) else keep_rows(state, ~state.finished)
    state.numbers[free[taken:]] = VACANT
    state.vacant = len(free) - taken
    return state


def finished_rows(state: State, with_scores: bool) -> Iterator[Hypothesis]:
    """The hypotheses of the rows that are finished."""
    finished, numbers, lengths, rounds = (part.tolist() for part in (state.finished, state.numbers, state.lengths, state.rounds))
    for row, number in enumerate(numbers):
        if finished[row] and number != VACANT:
            ids = state.tokens[row, 1 : lengths[row]].tolist()
            each = tuple(state.log_probabilities[row, 1 : lengths[row]].tolist()) if with_scores else ()
            yield Hypothesis(number, ids, rounds[row], sum(each) if with_scores else None, (), each)
