"""Jacobi decoding: the verifier's own predictions for later positions are the next draft (Santilli et al. 2023)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.decoding.drafters import DrafterInputs, bounded
from specdec_cli.decoding.drafters.fallback import SHORTEST
from specdec_cli.decoding.graphs import to_device
from specdec_cli.decoding.lengths import Lengths, expected_lengths
from specdec_cli.decoding.options import FixedPoint
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.model.cache import steps


@dataclass
class JacobiState:
    """The drafter's data: a predicted token for every position (B, S) of `state.tokens` (`guesses`), and the first
    position (B,) at which drafts predict nothing (`ends`).
    """

    guesses: Tensor
    ends: Tensor


def make_jacobi(inputs: DrafterInputs) -> "Jacobi":
    """Make the drafter of Jacobi decoding. It drafts up to the output's length: `inputs.lengths`, else the option
    `jacobi_length`, else an estimate from the source's length.
    """
    whole_blocks = isinstance(inputs.decoding.acceptance, FixedPoint)
    lengths = inputs.lengths or expected_lengths(inputs.decoding.jacobi_length, inputs.bundle.info.length_ratio)
    # Beyond its expected end Jacobi decoding drafts as many tokens as cost nothing; the published algorithm drafts none there.
    beyond = 0 if whole_blocks else min(inputs.decoding.block_size or SHORTEST, SHORTEST)
    config = inputs.bundle.verifier.config
    return Jacobi(inputs.decoding.block_size, config.padding, lengths, eos=config.eos, beyond=beyond, whole_blocks=whole_blocks)


def make_gauss_seidel(inputs: DrafterInputs) -> "Jacobi":
    """Make the drafter of GS-Jacobi decoding in blocks, up to `inputs.lengths` or else up to the row's limit."""
    whole_blocks, size = isinstance(inputs.decoding.acceptance, FixedPoint), inputs.decoding.block_size or SHORTEST
    config = inputs.bundle.verifier.config
    return Jacobi(size, config.padding, inputs.lengths, eos=config.eos, whole_blocks=whole_blocks)


def make_hybrid(inputs: DrafterInputs) -> "Jacobi":
    """Make the drafter of hybrid GS-Jacobi decoding in blocks, up to the option `jacobi_length`, else an estimate
    from the source's length.
    """
    whole_blocks, size = isinstance(inputs.decoding.acceptance, FixedPoint), inputs.decoding.block_size or SHORTEST
    lengths = expected_lengths(inputs.decoding.jacobi_length, inputs.bundle.info.length_ratio)
    config = inputs.bundle.verifier.config
    return Jacobi(size, config.padding, lengths, eos=config.eos, whole_blocks=whole_blocks)


class Jacobi:
    """Drafts what the verifier predicted for the same positions one round earlier (Santilli et al. 2023, Algorithms
    1 to 3).

    A draft has at most `block_size` tokens (GS-Jacobi), or reaches to the end of the output if that is 0 (Jacobi).
    If `lengths` are given, drafts end at the expected length of the output. Beyond it a draft has `beyond` tokens;
    with 0 of them decoding continues greedily (hybrid). Positions without a prediction hold `padding`.

    A draft is cut to what can be accepted: it ends with the first predicted `eos` (None: it does not), and has at most SHORTEST
    positions without a prediction, which get their first one.

    With `whole_blocks`, for the acceptance rule `FixedPoint`, drafts are not cut. A block of `block_size` positions begins with the last
    accepted token. Its block_size - 1 other positions are drafted. After at most block_size rounds it yields
    block_size tokens; the last of them begins the next block, whose other positions hold padding again.
    """

    def __init__(
        self,
        block_size: int,
        padding: int,
        lengths: Lengths | None = None,
        *,
        eos: int | None = None,
        beyond: int = 0,
        whole_blocks: bool = False,
    ) -> None:
        self.limit, self.capturable, self._padding, self._eos = block_size, True, padding, eos
        self.reads_sentences = lengths is not None
        self._lengths, self._beyond, self._whole_blocks = lengths, beyond, whole_blocks

    def begin(self, state: State, sentences: Sequence[Sentence]) -> JacobiState:
        """Return data for new rows: no predictions yet, and the position at which each row's drafts end."""
        ends = state.limits.clone()
        if self._lengths is not None:
            ends = ends.minimum(to_device([1 + self._lengths(sentence.source) for sentence in sentences], ends.device))
        return JacobiState(torch.full_like(state.tokens, self._padding), ends)

    def propose(self, state: State, record: JacobiState, size: int) -> Draft:
        """Return the predictions (B, k) of earlier rounds for the positions after the last accepted token, or
        padding where there are none.
        """
        block = bounded(self.limit, size)
        most = block - self._whole_blocks if block else record.guesses.shape[1]
        counts = (record.ends - state.lengths).clamp(self._beyond, most)
        counts = counts.minimum(state.limits - state.lengths).clamp_min(0).masked_fill(state.finished, 0)
        positions = (state.lengths[:, None] + steps(most, counts.device)).clamp_max(record.guesses.shape[1] - 1)
        ids = record.guesses.gather(1, positions)
        return Draft(ids, counts if self._whole_blocks else counts.minimum(self._useful(ids)))

    def _useful(self, ids: Tensor) -> Tensor:
        """How many of the predictions `ids` (B, k) a draft has at most (B,)."""
        predicted = (ids != self._padding).cumprod(1).sum(1) + SHORTEST
        return predicted if self._eos is None else predicted.minimum((ids != self._eos).cumprod(1).sum(1) + 1)

    def observe(self, state: State, record: JacobiState, verdict: Verdict) -> None:
        """Store the verifier's predictions for the positions of each row's draft.

        Unless `whole_blocks`, store also the prediction for the position after the draft.
        """
        accepted = verdict.accepted
        slots = steps(accepted.predictions.shape[1], record.ends.device)
        positions = (state.lengths[:, None] + slots).clamp_max(record.guesses.shape[1] - 1)
        predicted = slots < (accepted.drafted + (not self._whole_blocks))[:, None]
        record.guesses.scatter_(1, positions, torch.where(predicted, accepted.predictions, record.guesses.gather(1, positions)))
