"""The verifier's side of a round: many positions in one pass, with the arithmetic of a single one."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from specdec_cli.decoding.accept import Exact, Rule, accept
from specdec_cli.decoding.constraints import Constraints, Prefixes
from specdec_cli.decoding.execution.cuda_graphs import CudaCapture, CudaSide, Side
from specdec_cli.decoding.execution.cuda_steps import Place, Stages
from specdec_cli.decoding.execution.kernels import CompiledRounds, CompiledVerdict
from specdec_cli.decoding.state import Accepted, Draft, Scores, State, Verdict
from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import Cache, steps
from specdec_cli.model.choices import Choices
from specdec_cli.model.drafter_config import Reads
from specdec_cli.model.transformer import Memory, Transformer

_NONE = Constraints()
MULTIPLE = 16
"""Lengths of keys are multiples of this: attention's sums depend on a ragged tail."""


def round_up(number: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is at least `number`."""
    return -(-number // multiple) * multiple


class Verifier:
    """Encodes sources and scores drafts with `model`.

    A row's logits do not depend on the block size, the batch or the other rows: every length is a function
    of the row's own source (`source_width`), and so is the capacity of its cache. Rows of one batch must
    share their source width. Every output begins with the token `forced`, if it is given
    (a language token, say). `constraints` hold for every method but `raw_score`; their `forced` is this one.
    """

    def __init__(self, model: Transformer, forced: int | None = None, constraints: Constraints | None = None) -> None:
        self.model, self.forced = model.eval(), forced
        self.constraints = replace(constraints or Constraints(), forced=forced)
        self.device = next(model.parameters()).device
        self.stages = Stages(CudaCapture()) if self.device.type == "cuda" else None
        self.side: Side | None = CudaSide() if self.device.type == "cuda" else None
        self._compiled = CompiledRounds.of(model, forced)

    @property
    def longest_source(self) -> int:
        """Source tokens, EOS included, that fit the model's positions."""
        return self.model.config.max_positions // MULTIPLE * MULTIPLE

    def source_width(self, tokens: int) -> int:
        """The padded length of a source of `tokens` ids."""
        return round_up(tokens, MULTIPLE)

    def capacity(self, source_width: int) -> int:
        """Cache positions of a row whose source is padded to `source_width`; the last one takes what is cut off."""
        longest = max(source_width, round_up(self.constraints.min_length, MULTIPLE))
        return min(3 * longest + MULTIPLE, self.longest_source)

    def row_bytes(self, source_width: int) -> int:
        """About how much memory a row takes, most of it caches and the numbers that an encoder works with."""
        config, size = self.model.config, next(self.model.parameters()).element_size()
        keys_values = 2 * config.width * config.decoder_layers * (self.capacity(source_width) + source_width)
        working = source_width * (5 * config.width + 2 * config.feed_forward) + 2 * config.vocabulary_size
        return size * (keys_values + working)

    @torch.inference_mode()
    def begin(
        self, numbers: Sequence[int], sources: Sequence[Sequence[int]], max_length: int | None = None, *, reads: Reads = "states"
    ) -> State:
        """Encode `sources` (ids ending with EOS, all of one source width); at most `max_length` tokens a sentence.

        `reads` is what is asked for later: the decoder ("states"), or only the encoder's states, or nothing, without encoding.
        Where a step writes two tokens, an odd `max_length` from 3 on means one token less, and 1 means 2.
        """
        config, rows = self.model.config, len(sources)
        if any(not 0 <= token < config.source_size for ids in sources for token in ids):
            raise ValueError(f"an id of a source is none of {config.source_size}")
        width = self.source_width(max(map(len, sources)))
        source = torch.tensor([[*ids, *[config.padding] * (width - len(ids))] for ids in sources], device=self.device)
        memory = self._memory(source, reads)
        capacity = self.capacity(width)
        tokens = source.new_full((rows, capacity), config.padding)
        tokens[:, : config.step] = tokens.new_tensor(config.start)
        ones = source.new_ones(rows)
        longest = max(config.step, (max_length or capacity) // config.step * config.step)
        return State(
            source=source,
            tokens=tokens,
            lengths=ones * config.step,
            limits=ones * min(capacity - config.step, config.step + longest),
            finished=torch.zeros_like(ones, dtype=torch.bool),
            numbers=torch.tensor(list(numbers), device=self.device),
            rounds=ones * 0,
            log_probabilities=torch.zeros(rows, capacity, device=self.device),
            memory=memory,
            cache=Cache.empty(
                config.decoder_layers if reads == "states" else 0,
                rows,
                capacity,
                config.heads,
                config.head_width,
                memory.states,
                masked=not self.model.batch_invariant,
            ),
        )

    def _memory(self, source: Tensor, reads: Reads) -> Memory:
        """What is read of the encoding of `source` ids (B, S)."""
        if reads == "states":
            return self.model.encode(source)
        if reads == "encoder":
            states, mask = self.model.encoder(source)
            return Memory(states, mask, [])
        empty = torch.empty(*source.shape, 0, device=self.device)
        return Memory(empty, PrefixMask(torch.zeros_like(source[:, :1]), 0, empty.dtype), [])

    def placing(self, rows: int) -> AbstractContextManager[Place]:
        """What puts batches of at most so many rows where they can be decoded; on a CPU anywhere will do."""
        return nullcontext(_anywhere) if self.stages is None else self.stages.placing(rows)

    def skips(self, rule: Rule) -> bool:
        """Whether finished rows take no time by `rule`, so that they may stay."""
        return self._compiled is not None and isinstance(rule, Exact) and not self.constraints.everywhere

    def verify(self, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """One pass over the last accepted token and the draft (B, k), and what of it passes by `rule`.

        Log probabilities are those of the constrained logits: they sum to 1 over what may be chosen.
        """
        if self._compiled is not None and isinstance(rule, Exact) and not self.constraints.bind(state, draft.ids.shape[1] + 1):
            return self._compiled.verify(state, draft, with_scores)
        scores = self.score(state, draft)
        judge = partial(_judge, rule, self.model.choices, self.model.config.eos, with_scores)
        judged = state.run(("judge", *judge.args), judge, draft.ids, draft.counts, scores.logits)
        return Verdict(judged.accepted, judged.ended, scores.states, judged.log_probabilities)

    def advance(self, state: State, verdict: Verdict) -> int:
        """Take what was accepted into `state`; the number of rows that are finished."""
        if self._compiled is not None and isinstance(verdict, CompiledVerdict):
            return self._compiled.advance(verdict)
        scores = () if verdict.log_probabilities is None else (verdict.log_probabilities,)
        accepted = verdict.accepted
        return int(state.run(("advance",), _advance, accepted.ids, accepted.counts, verdict.ended, *scores))

    @torch.inference_mode()
    def score(self, state: State, draft: Draft) -> Scores:
        """One pass over the last accepted token and the draft (B, k), each slot constrained by the tokens before it."""
        return state.run(("score", self.constraints), self._score, draft.ids)

    @torch.inference_mode()
    def raw_score(self, state: State, draft: Draft) -> Scores:
        """The same without constraints, over all tokens of the last step and the draft: (B, k + tokens of a step, V)."""
        return state.run(("raw score",), self._raw_score, draft.ids)

    def constrain(self, scores: Tensor, state: State, drafted: Tensor, *, keep_forced: bool = False) -> Tensor:
        """Constrained `scores` (B, k + 1, V) of the slots after the `drafted` ids (B, k); the tensor given may be written to."""
        if self.constraints == _NONE:
            return scores
        config, prefixes = self.model.config, Prefixes.of(state, drafted)
        return self.constraints.apply(scores, prefixes, config.eos, config.padding, keep_forced=keep_forced)

    @torch.inference_mode()
    def read(self, state: State, drafted: Tensor) -> Tensor:
        """Top states (B, k, W) of the last accepted token and a draft (B, k) but its last token, without their logits."""
        return state.run(("read",), self._read, drafted[:, :-1])

    def _read(self, state: State, drafted: Tensor) -> Tensor:
        return self._states(state, self.positions(state, drafted.shape[1] + 1), drafted)[:, : drafted.shape[1] + 1]

    def _states(self, state: State, positions: Tensor, drafted: Tensor) -> Tensor:
        """Top states (B, Q, W) at `positions` (B, Q), of the last accepted token or step, a draft, and what fills up Q."""
        step = self.model.config.step
        last = state.tokens.gather(1, positions[:, :step])
        ids = torch.cat([last, drafted, last[:, :1].expand(-1, positions.shape[1] - step - drafted.shape[1])], dim=1)
        ends = positions + 1 if step == 1 else (positions // step + 1) * step
        mask = PrefixMask(ends, state.cache.capacity, state.memory.states.dtype)
        return self.model.decode(ids, positions, mask, state.memory, state.cache.at(positions))

    def _score(self, state: State, drafted: Tensor) -> Scores:
        scores = self._raw_score(state, drafted)
        return Scores(self.constrain(scores.logits, state, drafted), scores.states)

    def _raw_score(self, state: State, drafted: Tensor) -> Scores:
        asked = drafted.shape[1] + self.model.config.step
        positions = self.positions(state, asked)
        states = self._states(state, positions, drafted)
        return Scores(self.model.output(states)[:, :asked], states[:, :asked])

    def positions(self, state: State, asked: int) -> Tensor:
        """Positions (B, Q) of the last accepted token, or those of the last step, and what follows; Q is `asked`, rounded up."""
        count = round_up(asked, self.model.row_multiple)
        return (state.lengths[:, None] - self.model.config.step + steps(count, self.device)).clamp_max(state.cache.capacity - 1)


@dataclass(frozen=True)
class _Judged:
    accepted: Accepted
    ended: Tensor
    log_probabilities: Tensor | None


def _judge(rule: Rule, choices: Choices, eos: int, with_scores: bool, state: State, ids: Tensor, counts: Tensor, logits: Tensor) -> _Judged:
    """What is accepted of a draft, and which rows (B,) it ends."""
    accepted = accept(Draft(ids, counts), logits, rule, choices)
    counts, ended = cut_at_end(eos, state, accepted.ids, accepted.counts)
    return _Judged(replace(accepted, counts=counts), ended, choices.log_probabilities(logits, accepted.ids) if with_scores else None)


def cut_at_end(eos: int, state: State, ids: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """How many of `ids` (B, k), of which the first `counts` (B,) are taken, remain (B,), and which rows (B,) they end.

    A row ends with an EOS or at its limit. A finished row takes nothing.
    """
    before_end = (ids != eos).cumprod(1).sum(1)
    room = (state.limits - state.lengths).masked_fill_(state.finished, 0)
    counts = counts.minimum(before_end + 1).minimum(room)
    return counts, (counts > before_end) | (counts == room)


def _advance(state: State, ids: Tensor, counts: Tensor, ended: Tensor, scores: Tensor | None = None) -> Tensor:
    """Take ids, as many as `counts` (B,) say, and their log probabilities into `state`; the number of rows that are finished."""
    places = (state.lengths[:, None] + steps(ids.shape[1], ids.device)).clamp_max(state.tokens.shape[1] - 1)
    state.tokens.scatter_(1, places, ids)
    if scores is not None:
        state.log_probabilities.scatter_(1, places, scores)
    state.rounds += ~state.finished
    state.lengths += counts
    state.finished |= ended
    return state.finished.sum()


def _anywhere(state: State | None) -> State | None:
    return state
