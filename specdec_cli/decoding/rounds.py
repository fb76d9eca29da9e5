"""A round of decoding: propose a draft, verify it, let the drafter observe the verdict, and append the accepted tokens."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from specdec_cli.decoding import graphs
from specdec_cli.decoding.accept import accept, check_finite, cut_at_end
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.options import Decoding, Rule, Sampled
from specdec_cli.decoding.sampling import perturbed
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Accepted, Batch, Draft, State, Verdict
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
    def fills_caches(self) -> bool:
        """Whether new rows have keys and values in their caches before their first round."""

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


@runtime_checkable
class CapturableRound(Round, Protocol):
    """A round that can be captured as a CUDA graph: `play`, `start` and `results` read no value of a tensor, and shapes depend on none."""

    @property
    def identity(self) -> Hashable | None:
        """Equal for rounds that compute the same, so that CUDA graphs of one serve the other; None if `play` reads a value of a tensor,
        and so cannot be captured.
        """

    @property
    def drafts(self) -> bool:
        """Whether rounds have drafts."""

    @property
    def unbounded(self) -> bool:
        """Whether drafts have no largest size of their own."""

    @property
    def reads_sentences(self) -> bool:
        """Whether `prepare` reads the sentences, or a value of a tensor; otherwise it can be captured like `play`."""

    def entries(self, entering: Sequence[Sentence]) -> Tensor:
        """What `start` needs of sentences, which share their source width, on the CPU: a row for each."""

    def start(self, entries: Tensor) -> State:
        """Encode the sentences of `entries`, which are on the verifier's device. No value is read."""

    def prepare(self, state: State, entering: Sequence[Sentence]) -> Any:
        """The record of the new rows of `state`, which are those of the sentences `entering`."""

    def result_sizes(self, capacity: int) -> tuple[int, int]:
        """The columns of both `results` of a batch whose rows have `capacity` positions."""

    def results(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Integers (B, N) and numbers in float32 (B, M), None if M is 0, of which `read` makes hypotheses. The first integer of a row says
        whether it has finished.
        """

    def read(self, number: int, integers: Sequence[int], numbers: Sequence[float]) -> Hypothesis:
        """The hypothesis of the sentence `number` from the `results` of its finished row."""


class _Drafted:
    """What rounds with a drafter share: how sentences enter the batch, and how finished rows become hypotheses."""

    with_scores = False
    """Whether hypotheses have scores."""

    def __init__(self, verifier: Verifier, drafter: Drafter, decoding: Decoding) -> None:
        self._verifier, self._drafter, self._decoding = verifier, drafter, decoding

    @property
    def reads_sentences(self) -> bool:
        return self._drafter.reads_sentences

    def begin(self, entering: Sequence[Sentence]) -> Batch:
        state = self.start(self.entries(entering).to(self._verifier.device))
        return Batch(state, self.prepare(state, entering))

    def entries(self, entering: Sequence[Sentence]) -> Tensor:
        numbers, sources, streams = zip(*((s.number, s.source, s.stream) for s in entering), strict=True)
        return self._verifier.entries(numbers, sources, self._decoding.max_length, streams)

    def start(self, entries: Tensor) -> State:
        return self._verifier.start(entries)

    def prepare(self, state: State, entering: Sequence[Sentence]) -> Any:
        return self._drafter.begin(state, entering)

    def hypotheses(self, batch: Batch) -> list[Hypothesis]:
        return _finished(batch.state, with_scores=self.with_scores)

    def result_sizes(self, capacity: int) -> tuple[int, int]:
        return _HEAD + capacity, capacity * self.with_scores

    def results(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        return _integers(batch.state), batch.state.log_probabilities if self.with_scores else None

    def read(self, number: int, integers: Sequence[int], numbers: Sequence[float]) -> Hypothesis:
        return _read(number, integers, numbers if self.with_scores else None)


class DraftAndVerify(_Drafted):
    """The round of generalized aggressive decoding (technical report, Ge et al. 2022, Section 3.2, Algorithm 1).

    `decoding` says the acceptance rule, the largest number of tokens, and whether there are scores.
    """

    fills_caches = False

    def __init__(self, verifier: Verifier, drafter: Drafter, decoding: Decoding) -> None:
        super().__init__(verifier, drafter, decoding)
        self.with_scores, self._by_network = decoding.with_scores, verifier.judges(decoding.acceptance)

    @property
    def identity(self) -> Hashable | None:
        return (self._drafter, self._decoding.acceptance, self.with_scores) if self._drafter.capturable else None

    @property
    def drafts(self) -> bool:
        return not isinstance(self._drafter, NoDrafter)

    @property
    def unbounded(self) -> bool:
        return self._drafter.limit == 0

    def play(self, batch: Batch, size: int, *, trim: bool = False, onlooker: Onlooker | None = None) -> tuple[Draft, Verdict]:
        state, record = batch.state, batch.record
        draft = self._drafter.propose(state, record, size)
        if trim:
            draft = draft.trimmed(self._verifier.network.row_multiple)
        verdict = self._verdict(state, draft)
        if onlooker is not None:
            onlooker(RoundTrace(state, draft, verdict.accepted))
        self._drafter.observe(state, record, verdict)
        if self._by_network and not self.with_scores:
            self._verifier.append(state, verdict)
        else:
            advance(state, verdict)
        return draft, verdict

    def _verdict(self, state: State, draft: Draft) -> Verdict:
        """The tokens that the rule accepts after one pass over the last accepted token and the draft (B, k)."""
        judge = self._verifier.judge if self._by_network else partial(judge_by_operators, self._verifier)
        return judge(state, draft, self._decoding.acceptance, with_scores=self.with_scores)


def judge_by_operators(verifier: Verifier, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
    """What `Verifier.judge` returns, computed from all logits, for any rule and under any constraints. On a CPU raises NotFiniteError if a
    logit is not finite.
    """
    choices, scores = verifier.network.choices, verifier.score(state, draft)
    logits = perturbed(scores.logits, rule, state.streams, state.lengths) if isinstance(rule, Sampled) else scores.logits
    accepted = accept(draft, logits, rule, choices)
    if graphs.can_branch(logits.device):
        check_finite(logits, accepted, state.finished)
    counts, ended = cut_at_end(verifier.config.eos, state, accepted.ids, accepted.counts)
    log_probabilities = choices.log_probabilities(scores.logits, accepted.ids) if with_scores else None
    return Verdict(replace(accepted, counts=counts), ended, scores.states, log_probabilities)


class DraftAlone(_Drafted):
    """A drafting pass whose whole block is output, up to EOS, without verification (Generalized Aggressive Decoding, Table 1, "NAT
    drafter").

    Hypotheses have no scores. Of the verifier's model only what the drafter `reads` is computed: nothing, the encoder, or also the
    decoder's top states of every block but the last; never logits. Of the verifier's constraints only the forced first token is
    applied. `decoding` says the largest number of tokens.
    """

    def __init__(self, verifier: Verifier, drafter: Drafter, decoding: Decoding, reads: Reads) -> None:
        super().__init__(verifier, drafter, decoding)
        self._reads = reads

    @property
    def fills_caches(self) -> bool:
        return self._reads == "states" and self._verifier.forced is not None

    @property
    def identity(self) -> Hashable | None:
        return ("alone", self._drafter) if self._drafter.capturable and not self._drafter.reads_sentences else None

    @property
    def drafts(self) -> bool:
        return True

    @property
    def unbounded(self) -> bool:
        return False

    def start(self, entries: Tensor) -> State:
        return self._verifier.start(entries, reads=self._reads)

    def prepare(self, state: State, entering: Sequence[Sentence]) -> Any:
        """The drafter's record of the new rows of `state`, to which the forced first token is appended in place."""
        batch = Batch(state, self._drafter.begin(state, entering))
        if self._verifier.forced is not None:
            ones = torch.ones_like(state.lengths)
            forced = self._accept_all(state, Draft(ones[:, None] * self._verifier.forced, ones))
            self._observe(batch, forced)
            advance(state, forced)
            state.rounds.zero_()  # no drafting pass yet
        return batch.record

    def play(self, batch: Batch, size: int, *, trim: bool = False, onlooker: Onlooker | None = None) -> tuple[Draft, Verdict]:  # noqa: ARG002
        state = batch.state
        draft = self._drafter.propose(state, batch.record, size)
        verdict = self._accept_all(state, draft)
        if onlooker is not None:
            onlooker(RoundTrace(state, draft, verdict.accepted))
        self._observe(batch, verdict)
        advance(state, verdict)
        return draft, verdict

    def _observe(self, batch: Batch, verdict: Verdict) -> None:
        """Let the drafter observe the verdict with the verifier's states, if it reads them; on a CPU not if all rows are finished."""
        state = batch.state
        if self._reads == "states" and not (graphs.can_branch(state.finished.device) and bool((verdict.ended | state.finished).all())):
            states = self._verifier.read(state, verdict.accepted.ids)
            self._drafter.observe(state, batch.record, replace(verdict, states=states))

    def _accept_all(self, state: State, draft: Draft) -> Verdict:
        """A verdict without predictions and states that accepts the draft up to EOS and each row's limit."""
        counts, ended = cut_at_end(self._verifier.config.eos, state, draft.ids, draft.counts)
        nothing = draft.ids[:, :0]
        return Verdict(Accepted(draft.ids, counts, counts, nothing, draft.counts), ended, state.memory.states[:, :0], None)


def advance(state: State, verdict: Verdict) -> None:
    """Append the accepted tokens of `verdict` to `state` in place."""
    ids, scores = verdict.accepted.ids, verdict.log_probabilities
    positions = (state.lengths[:, None] + steps(ids.shape[1], ids.device)).clamp_max(state.tokens.shape[1] - 1)
    state.tokens.scatter_(1, positions, ids)
    if scores is not None:
        state.log_probabilities.scatter_(1, positions, scores)
    state.rounds += ~state.finished
    state.lengths += verdict.accepted.counts
    state.finished |= verdict.ended


_HEAD = 3
"""The integers of a row before its tokens."""


def _integers(state: State) -> Tensor:
    """The integers (B, _HEAD + S) of which `_read` makes hypotheses."""
    return torch.cat([torch.stack([state.finished.long(), state.lengths, state.rounds], dim=1), state.tokens], dim=1)


def _read(number: int, integers: Sequence[int], log_probabilities: Sequence[float] | None) -> Hypothesis:
    _, length, rounds, *tokens = integers
    return hypothesis_of(number, tokens[:length], rounds, None if log_probabilities is None else log_probabilities[:length])


def _finished(state: State, *, with_scores: bool) -> list[Hypothesis]:
    finished, numbers, lengths, rounds = (part.tolist() for part in (state.finished, state.numbers, state.lengths, state.rounds))
    hypotheses = []
    for row, number in enumerate(numbers):
        if finished[row]:
            scores = state.log_probabilities[row, : lengths[row]].tolist() if with_scores else None
            hypotheses.append(hypothesis_of(number, state.tokens[row, : lengths[row]].tolist(), rounds[row], scores))
    return hypotheses


def hypothesis_of(number: int, tokens: Sequence[int], rounds: int, log_probabilities: Sequence[float] | None) -> Hypothesis:
    """Make the hypothesis of the sentence `number` from a finished row: its `tokens` and their log probabilities.

    Both begin with the decoder start token.
    """
    scores = () if log_probabilities is None else tuple(log_probabilities[1:])
    return Hypothesis(number, list(tokens[1:]), rounds, None if log_probabilities is None else sum(scores), (), scores)
