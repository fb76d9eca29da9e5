"""Jacobi decoding: the verifier's own predictions beyond what is certain are the next draft."""

from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.decoding.drafters.continuations import Continuations
from specdec_cli.decoding.state import Draft, State, Verdict


@dataclass
class JacobiState:
    """The drafter's record: a guess at every position (B, S), as in `state.tokens`, and where the target is expected to end (B,)."""

    guesses: Tensor
    ends: Tensor


class Jacobi:
    """Drafts what the verifier predicted for the same positions a round ago (Santilli et al. 2023, Algorithms 1 to 3).

    A draft is `block_size` tokens (PGJ), or if that is 0 all up to the expected end (PJ), which is `length_ratio`
    times the source's length. Beyond it a draft has `beyond` tokens, 0 being one by one (HGJ); None: as before.
    Positions without a prediction hold padding. As published, each block begins with padding alone, for blocks are
    taken as a whole. With a `memory` the prediction after a block is kept for the next one, and what followed the
    same tokens earlier goes before predictions, which were made after a token that turned out to be wrong.
    """

    def __init__(self, block_size: int, length_ratio: float, beyond: int | None, padding: int, memory: Continuations | None) -> None:
        self.block_size, self.length_ratio, self.beyond = block_size, length_ratio, beyond
        self._padding, self._memory = padding, memory

    def begin(self, state: State) -> JacobiState:
        """No predictions yet."""
        source_lengths = (state.source != self._padding).sum(1)
        ends = (source_lengths * self.length_ratio).ceil().long() + 1
        return JacobiState(torch.full_like(state.tokens, self._padding), ends)

    def propose(self, state: State) -> Draft:
        """The guesses (B, k) after the last accepted token."""
        own: JacobiState = state.drafting
        left = own.ends - state.lengths
        counts = left if self.block_size == 0 else torch.full_like(left, self.block_size)
        if self.beyond is not None:
            counts = torch.where(left > self.beyond, counts, self.beyond)
        counts = counts.minimum(state.limits - state.lengths).clamp_min(0).masked_fill(state.finished, 0)
        steps = torch.arange(int(counts.max()), device=counts.device)
        places = (state.lengths[:, None] + steps).clamp_max(own.guesses.shape[1] - 1)
        guesses = own.guesses.gather(1, places)
        return Draft(self._memory.fill(state, guesses) if self._memory else guesses, counts)

    def observe(self, state: State, verdict: Verdict) -> None:
        """Keep the predictions as guesses."""
        own: JacobiState = state.drafting
        kept = verdict.accepted.predictions if self._memory else verdict.accepted.predictions[:, :-1]
        steps = torch.arange(kept.shape[1], device=kept.device)
        places = (state.lengths[:, None] + steps).clamp_max(own.guesses.shape[1] - 1)
        own.guesses.scatter_(1, places, kept)
        if self._memory:
            self._memory.observe(state, verdict.accepted)
