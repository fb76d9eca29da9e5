"""A round of decoding: propose a draft, verify it, let the drafter observe the verdict, and append the accepted tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from specdec_cli.decoding.accept import accept, cut_at_end
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.options import Decoding, Sampled
from specdec_cli.decoding.sampling import perturbed
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import NO_SENTENCE, Accepted, Batch, Draft, State, StepRunner, Verdict, run_directly
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.cache import steps
from specdec_cli.model.drafter_config import Reads


@dataclass(frozen=True)
class RoundTrace:
    """A round: the draft, the accepted tokens, and the state before they are appended to it."""

    state: State
    draft: Draft
    accepted: Accepted


Onlooker = Callable[[RoundTrace], None]
"""A function that observes a decoding: it is called in each round."""


class Round(Protocol):
    """What one round of a decoding computes."""

    @property
    def unbounded(self) -> bool:
        """Whether drafts have no largest size of their own."""

    def begin(self, entering: Sequence[Sentence]) -> Batch:
        """Encode sentences, which share their source width, and return a batch with one row for each."""

    def play(self, batch: Batch, size: int, *, trim: bool = False, onlooker: Onlooker | None = None) -> tuple[Draft, Verdict]:
        """Play a round with drafts of at most `size` tokens (0: no bound but the drafter's own): write to `batch` in place, and return
        draft and verdict.

        With `trim`, verified drafts are cut to the longest one, which reads a value; without it, only the drafter decides how many
        positions are computed. `onlooker` is called before the accepted tokens are appended.
        """

    def hypotheses(self, batch: Batch) -> list[Hypothesis]:
        """The hypotheses of the finished rows of `batch`."""


class DraftAndVerify:
    """The round of generalized aggressive decoding (technical report, Ge et al. 2022, Section 3.2, Algorithm 1).

    Of `decoding` count the acceptance rule, the largest number of tokens, and whether there are scores.
    """

    def __init__(self, verifier: Verifier, drafter: Drafter, decoding: Decoding) -> None:
        self._verifier, self._drafter, self._decoding = verifier, drafter, decoding

    @property
    def unbounded(self) -> bool:
        return self._drafter.limit == 0

    def begin(self, entering: Sequence[Sentence]) -> Batch:
        state = self._verifier.begin([s.number for s in entering], [s.source for s in entering], self._decoding.max_length)
        state.streams = state.streams.new_tensor([s.stream for s in entering])
        return Batch(state, self._drafter.begin(state, entering))

    def play(self, batch: Batch, size: int, *, trim: bool = False, onlooker: Onlooker | None = None) -> tuple[Draft, Verdict]:
        state, memory = batch.state, batch.memory
        draft = self._drafter.propose(state, memory, size)
        if trim:
            draft = draft.trimmed(self._verifier.network.row_multiple)
        verdict = self._verdict(state, draft)
        if onlooker is not None:
            onlooker(RoundTrace(state, draft, verdict.accepted))
        self._drafter.observe(state, memory, verdict)
        advance(state, verdict, self._verifier.run)
        return draft, verdict

    def hypotheses(self, batch: Batch) -> list[Hypothesis]:
        return _finished(batch.state, with_scores=self._decoding.with_scores)

    def _verdict(self, state: State, draft: Draft) -> Verdict:
        """The tokens that the rule accepts after one pass over the last accepted token and the draft (B, k)."""
        rule, with_scores, choices = self._decoding.acceptance, self._decoding.with_scores, self._verifier.network.choices
        scores = self._verifier.score(state, draft)

        def judge(state: State, ids: Tensor, counts: Tensor, logits: Tensor, prefix: Tensor | None = None) -> _Judgement:
            scores = perturbed(logits, rule, state.streams, state.lengths) if isinstance(rule, Sampled) else logits
            accepted = accept(Draft(ids, counts, prefix), scores, rule, choices)
            counts, ended = cut_at_end(self._verifier.config.eos, state, accepted.ids, accepted.counts)
            log_probabilities = choices.log_probabilities(logits, accepted.ids) if with_scores else None
            return _Judgement(replace(accepted, counts=counts), ended, log_probabilities)

        inputs = (draft.ids, draft.counts, scores.logits, *(() if draft.prefix is None else (draft.prefix,)))
        judged = self._verifier.run(("judge", rule, with_scores, len(inputs)), judge, state, *inputs)
        return Verdict(judged.accepted, judged.ended, scores.states, judged.log_probabilities)


class DraftAlone:
    """A drafting pass whose whole block is output, up to EOS, without verification (Generalized Aggressive Decoding, Table 1, "NAT
    drafter").

    Hypotheses have no scores. Of the verifier's model only what the drafter `reads` is computed: nothing, the encoder, or also the
    decoder's top states of every block but the last; never logits. Of the verifier's constraints only the forced first token is
    applied. Of `decoding` counts the largest number of tokens.
    """

    def __init__(self, verifier: Verifier, drafter: Drafter, decoding: Decoding, reads: Reads) -> None:
        self._verifier, self._drafter, self._max_length, self._reads = verifier, drafter, decoding.max_length, reads

    @property
    def unbounded(self) -> bool:
        return self._drafter.limit == 0

    def begin(self, entering: Sequence[Sentence]) -> Batch:
        numbers, sources = [s.number for s in entering], [s.source for s in entering]
        state = self._verifier.begin(numbers, sources, self._max_length, reads=self._reads)
        batch = Batch(state, self._drafter.begin(state, entering))
        if self._verifier.forced is not None:
            ones = torch.ones_like(state.lengths)
            forced = self._accept_all(state, Draft(ones[:, None] * self._verifier.forced, ones))
            self._observe(batch, forced)
            advance(state, forced, self._verifier.run)
            state.rounds.zero_()  # no drafting pass yet
        return batch

    def play(self, batch: Batch, size: int, *, trim: bool = False, onlooker: Onlooker | None = None) -> tuple[Draft, Verdict]:  # noqa: ARG002
        state = batch.state
        draft = self._drafter.propose(state, batch.memory, size)
        verdict = self._accept_all(state, draft)
        if onlooker is not None:
            onlooker(RoundTrace(state, draft, verdict.accepted))
        self._observe(batch, verdict)
        advance(state, verdict, self._verifier.run)
        return draft, verdict

    def hypotheses(self, batch: Batch) -> list[Hypothesis]:
        return _finished(batch.state, with_scores=False)

    def _observe(self, batch: Batch, verdict: Verdict) -> None:
        """Let the drafter observe the verdict with the verifier's states, if it reads them and a row is not finished."""
        state = batch.state
        if self._reads == "states" and not bool((verdict.ended | state.finished).all()):
            states = self._verifier.read(state, verdict.accepted.ids)
            self._drafter.observe(state, batch.memory, replace(verdict, states=states))

    def _accept_all(self, state: State, draft: Draft) -> Verdict:
        """A verdict without predictions and states that accepts the draft up to EOS and each row's limit."""
        counts, ended = cut_at_end(self._verifier.config.eos, state, draft.ids, draft.counts)
        nothing = draft.ids[:, :0]
        return Verdict(Accepted(draft.ids, counts, counts, nothing, draft.counts), ended, state.memory.states[:, :0], None)


def advance(state: State, verdict: Verdict, run: StepRunner = run_directly) -> None:
    """Append the accepted tokens of `verdict` to `state` in place; `run` runs the step."""
    scores = () if verdict.log_probabilities is None else (verdict.log_probabilities,)
    run(("advance",), _append, state, verdict.accepted.ids, verdict.accepted.counts, verdict.ended, *scores)


@dataclass(frozen=True)
class _Judgement:
    accepted: Accepted
    ended: Tensor
    log_probabilities: Tensor | None


def _append(state: State, ids: Tensor, counts: Tensor, ended: Tensor, scores: Tensor | None = None) -> None:
    """Append the first `counts` (B,) of `ids` (B, k) and of `scores` to `state`."""
    positions = (state.lengths[:, None] + steps(ids.shape[1], ids.device)).clamp_max(state.tokens.shape[1] - 1)
    state.tokens.scatter_(1, positions, ids)
    if scores is not None:
        state.log_probabilities.scatter_(1, positions, scores)
    state.rounds += ~state.finished
    state.lengths += counts
    state.finished |= ended


def _finished(state: State, *, with_scores: bool) -> list[Hypothesis]:
    finished, numbers, lengths, rounds = (part.tolist() for part in (state.finished, state.numbers, state.lengths, state.rounds))
    hypotheses = []
    for row, number in enumerate(numbers):
        if finished[row] and number != NO_SENTENCE:
            ids = state.tokens[row, 1 : lengths[row]].tolist()
            scores = tuple(state.log_probabilities[row, 1 : lengths[row]].tolist()) if with_scores else ()
            hypotheses.append(Hypothesis(number, ids, rounds[row], sum(scores) if with_scores else None, (), scores))
    return hypotheses
