"""Draft, verify, accept: the one loop behind every decoding that keeps the verifier's output."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import torch
from torch import Tensor

from specdec_cli.decoding.accept import Rule, accept
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.state import Accepted, Draft, State
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.cache import steps
from specdec_cli.model.int8 import log_probabilities
from specdec_cli.model.rows import join_rows, replace_rows, select_rows


@dataclass(frozen=True)
class Sentence:
    """A sentence to decode: its number, and its source ids ending with EOS."""

    number: int
    source: Sequence[int]


@dataclass(frozen=True)
class Alternative:
    """One of several outputs for a sentence: ids, log probability, and the score by which they are ranked."""

    ids: list[int]
    log_probability: float
    score: float


@dataclass(frozen=True)
class Hypothesis:
    """A decoded sentence: its ids (EOS included where it was reached), rounds, and log probability if computed.

    `log_probabilities` are those of its tokens, where the loop computed them; `alternatives` are the n best of a
    search that has them, the first of them this one.
    """

    number: int
    ids: list[int]
    rounds: int
    score: float | None
    alternatives: tuple[Alternative, ...] = ()
    log_probabilities: tuple[float, ...] = ()


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


Onlooker = Callable[[Round], None]


@torch.inference_mode()
def decode(
    verifier: Verifier, drafter: Drafter, sentences: Iterable[Sentence], options: LoopOptions, onlooker: Onlooker | None = None
) -> Iterator[Hypothesis]:
    """Decode `sentences`, which share their source width, and hand each over as soon as it is done.

    Generalized aggressive decoding (technical report, Section 3.2; Algorithm 1 for the round).
    """
    waiting = iter(sentences)
    judge = partial(_judge, options.rule, verifier.model.config.eos)
    with verifier.placing(options.batch_size) as place:
        state = place(_enter(verifier, drafter, waiting, options.batch_size, options))
        while state is not None:
            draft = drafter.propose(state)
            scores = verifier.score(state, draft)
            accepted, ended = state.run(("judge", judge.args), judge, draft.ids, draft.counts, scores.logits)
            if onlooker is not None:
                onlooker(Round(state, draft, accepted))
            drafter.observe(state, accepted, scores)
            logits = (scores.logits,) if options.with_scores else ()
            done = int(state.run(("advance",), _advance, accepted.ids, accepted.counts, ended, *logits)) - state.vacant
            if 4 * done >= len(state.finished) - state.vacant:
                yield from _finished(state, options.with_scores)
                state = place(_exchange(state, _enter(verifier, drafter, waiting, done, options)))


def _enter(verifier: Verifier, drafter: Drafter, waiting: Iterator[Sentence], places: int, options: LoopOptions) -> State | None:
    entering = list(islice(waiting, places))
    if not entering:
        return None
    state = verifier.begin([s.number for s in entering], [s.source for s in entering], options.max_length)
    state.drafting = drafter.begin(state)
    return state


def _exchange(state: State, entering: State | None) -> State | None:
    """The running rows and those that enter: these take the places of the finished ones, if they are as many."""
    if entering is not None and len(entering.lengths) == len(state.lengths):
        return entering
    running = (~state.finished).nonzero()[:, 0]
    if entering is None:
        return select_rows(state, running) if len(running) else None
    free = state.finished.nonzero()[:, 0]
    if len(entering.lengths) == len(free):
        return replace_rows(state, free, entering)
    return join_rows(select_rows(state, running), entering) if len(running) else entering


def _judge(rule: Rule, eos: int, state: State, ids: Tensor, counts: Tensor, logits: Tensor) -> tuple[Accepted, Tensor]:
    """What is accepted of a draft, and which rows (B,) it ends: those with an EOS, or at their limit; a finished row accepts nothing."""
    accepted = accept(Draft(ids, counts), logits, rule)
    before_end = (accepted.ids != eos).cumprod(1).sum(1)
    room = (state.limits - state.lengths).masked_fill_(state.finished, 0)
    counts = accepted.counts.minimum(before_end + 1).minimum(room)
    return replace(accepted, counts=counts), (counts > before_end) | (counts == room)


def _advance(state: State, ids: Tensor, counts: Tensor, ended: Tensor, logits: Tensor | None = None) -> Tensor:
    """Take what is accepted into `state`; the number of rows that are finished."""
    places = (state.lengths[:, None] + steps(ids.shape[1], ids.device)).clamp_max(state.tokens.shape[1] - 1)
    state.tokens.scatter_(1, places, ids)
    if logits is not None:
        state.log_probabilities.scatter_(1, places, log_probabilities(logits, ids))
    state.rounds += ~state.finished
    state.lengths += counts
    state.finished |= ended
    return state.finished.sum()


def _finished(state: State, with_scores: bool) -> Iterator[Hypothesis]:
    for row in state.finished[: len(state.finished) - state.vacant].nonzero()[:, 0].tolist():
        ids = state.tokens[row, 1 : int(state.lengths[row])].tolist()
        each = tuple(state.log_probabilities[row, 1 : len(ids) + 1].tolist()) if with_scores else ()
        yield Hypothesis(int(state.numbers[row]), ids, int(state.rounds[row]), sum(each) if with_scores else None, (), each)
