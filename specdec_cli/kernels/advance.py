"""The bookkeeping of a round: the inputs of the verifier's pass, and the accepted tokens in the state."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from specdec_cli.decoding.state import State, Verdict
from specdec_cli.kernels.tiles import power_of_two


@triton.jit(do_not_specialize=["capacity", "drafted"])
def _inputs(tokens, draft, lengths, ids, positions, ends, capacity, drafted, BLOCK: tl.constexpr):
    """Each program makes the inputs of one row."""
    row, slots = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    length = tl.load(lengths + row)
    guess = tl.load(draft + row * drafted + slots - 1, mask=(slots > 0) & (slots <= drafted), other=0)
    token = tl.where(slots == 0, tl.load(tokens + row * capacity + length - 1), guess)
    here, mask = row * (drafted + 1) + slots, slots <= drafted
    position = tl.minimum(length - 1 + slots, capacity - 1)
    tl.store(ids + here, token, mask=mask)
    tl.store(positions + here, position, mask=mask)
    tl.store(ends + here, position + 1, mask=mask)


def pass_inputs(state: State, draft: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The last accepted token and the `draft` (B, k) of each row: ids, positions, and the number of positions that each sees, each
    (B, k + 1). For models that write a token a step.
    """
    (rows, drafted), capacity = draft.shape, state.tokens.shape[1]
    ids, positions, ends = torch.empty(3, rows, drafted + 1, dtype=torch.int64, device=draft.device)
    _inputs[(rows,)](
        *(state.tokens, draft.contiguous() if drafted else state.tokens, state.lengths, ids, positions, ends, capacity, drafted),
        BLOCK=power_of_two(drafted + 1),
    )
    return ids, positions, ends


@triton.jit(do_not_specialize=["capacity", "queries"])
def _append(tokens, lengths, finished, rounds, ids, counts, ended, capacity, queries, BLOCK: tl.constexpr):
    """Each program appends the tokens of one row."""
    row, slots = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    length, count, done = tl.load(lengths + row), tl.load(counts + row), tl.load(finished + row)
    new = tl.load(ids + row * queries + slots, mask=slots < queries, other=0)
    tl.store(tokens + row * capacity + length + slots, new, mask=(slots < count) & (slots < queries))
    tl.store(rounds + row, tl.load(rounds + row) + (done == 0).to(tl.int64))
    tl.store(lengths + row, length + count)
    tl.store(finished + row, done | tl.load(ended + row))


def append(state: State, verdict: Verdict) -> None:
    """Append the accepted tokens of `verdict`, which has no log probabilities, to `state` in place."""
    accepted, capacity = verdict.accepted, state.tokens.shape[1]
    rows, slots = accepted.ids.shape
    _append[(rows,)](
        *(state.tokens, state.lengths, state.finished.view(torch.uint8), state.rounds, accepted.ids, accepted.counts),
        *(verdict.ended.view(torch.uint8), capacity, slots),
        BLOCK=power_of_two(slots),
    )
