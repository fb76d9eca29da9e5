"""Copies that the constraint `most_copies` forbids: the forms of tokens that would complete one copy too many of an n-gram."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from specdec_cli.decoding.constraints import LONGEST_COPY
from specdec_cli.kernels.tiles import power_of_two

WIDTH = power_of_two(LONGEST_COPY)
"""Columns of the result of `forbidden`: one for each length of an n-gram, and empty ones."""


@triton.jit
def _form(tokens, draft, forms, row, length, slot, back, capacity, drafted, mask):
    """The forms of the tokens `back` places before the slot; 0 before the first one."""
    position = length + slot - back
    inside = mask & (back > 0) & (position >= 0)
    token = tl.load(tokens + row * capacity + position, mask=inside & (position < length), other=0)
    token += tl.load(draft + row * drafted + (position - length), mask=inside & (position >= length), other=0)
    return tl.load(forms + token, mask=inside, other=0)


@triton.jit(do_not_specialize=["capacity", "drafted"])
def _forbid(
    tokens, draft, lengths, repeats, forms, output, capacity, drafted,
    COPIES: tl.constexpr, LONGEST: tl.constexpr, BLOCK: tl.constexpr, BACKS: tl.constexpr,
):  # fmt: skip
    """Each program computes one slot of one row. See `_completes_copy` in decoding/constraints.py."""
    row, slot = (tl.program_id(0) // (drafted + 1)).to(tl.int64), tl.program_id(0) % (drafted + 1)
    length = tl.load(lengths + row)
    numbers = tl.arange(0, BLOCK)
    period = numbers + 1
    is_period = period <= LONGEST
    first = _form(tokens, draft, forms, row, length, slot, period, capacity, drafted, is_period)
    within = tl.arange(0, BLOCK)[None, :] + 1
    copied = is_period[:, None] & (within < period[:, None])
    inner = _form(tokens, draft, forms, row, length, slot, period[:, None] - within, capacity, drafted, copied)
    missing = tl.min(tl.where(copied & (inner > 0), within, period[:, None]), 1) - 1
    back = tl.arange(0, BACKS)[None, :] + 1
    compared = is_period[:, None] & (back < COPIES * period[:, None] - missing[:, None])
    here = _form(tokens, draft, forms, row, length, slot, back + period[:, None] * 0, capacity, drafted, compared)
    preceding = _form(tokens, draft, forms, row, length, slot, back + period[:, None], capacity, drafted, compared)
    differs = tl.max(tl.where(compared & (here != preceding), 1, 0), 1)
    completes = (first > 0) & (differs == 0) & (tl.load(repeats + row) == 0)
    tl.store(output + tl.program_id(0) * BLOCK + numbers, tl.where(completes, first, 0))


def forbidden(tokens: Tensor, lengths: Tensor, draft: Tensor, forms: Tensor, repeats: Tensor, copies: int) -> Tensor:
    """The forms (B, k + 1, WIDTH) of tokens that may not follow the first `lengths` (B,) of `tokens` (B, S) and the first 0 to k ids of
    `draft` (B, k), because there would be more than `copies` copies in succession; 0 stands for none.

    `forms` (V,) are the forms of tokens, int32; the boolean `repeats` (B,) is true for rows in which all copies are allowed.
    """
    (rows, drafted), capacity = draft.shape, tokens.shape[1]
    output = torch.empty(rows, drafted + 1, WIDTH, dtype=torch.int32, device=tokens.device)
    _forbid[(rows * (drafted + 1),)](
        *(tokens, draft.contiguous() if drafted else tokens, lengths, repeats.view(torch.uint8), forms, output, capacity, drafted),
        COPIES=copies,
        LONGEST=LONGEST_COPY,
        BLOCK=WIDTH,
        BACKS=power_of_two(copies * LONGEST_COPY - 1),
    )
    return output


def repeats(source: Tensor, forms: Tensor, copies: int) -> Tensor:
    """Whether each row of `source` ids (B, M) itself repeats an n-gram more than `copies` times (B,); see `constraints.repeats`.

    `forms` (V,) are the forms of source tokens, int32, 0 for padding.
    """
    nothing = torch.zeros(len(source), dtype=torch.int64, device=source.device)
    excluded = forbidden(source, nothing, source[:, :-1], forms, nothing.bool(), copies)
    return ((excluded == forms[source][..., None]) & (excluded > 0)).flatten(1).any(1)
