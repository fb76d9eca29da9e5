"""The slot link's walk from left to right: in each slot, the best of its candidates after the tokens chosen before it."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from specdec_cli.kernels.linear import linear
from specdec_cli.kernels.tiles import power_of_two
from specdec_cli.kernels.vocabulary import best_tokens
from specdec_cli.model.layers import Vocabulary
from specdec_cli.model.slot_link import SlotLink

STEP = 128
"""Numbers of a row that are added up at a time, at most."""
WEIGHTS = 2**16
"""The most recurrent weights that the walk reads at a time: more do not fit into the registers of its 16 warps."""


@triton.jit
def _weigh(
    states, candidates, shift, vocabulary, bias, scores,
    WIDTH: tl.constexpr, CANDIDATES: tl.constexpr, BLOCK: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """Each program computes for one slot what its state and the shift of the link give to the score of each candidate."""
    here = tl.program_id(0).to(tl.int64)
    choices, part = tl.arange(0, BLOCK), tl.arange(0, STEP)
    in_choices = choices < CANDIDATES
    ids = tl.load(candidates + here * CANDIDATES + choices, mask=in_choices, other=0).to(tl.int64)
    total = tl.zeros([BLOCK], tl.float32)
    if bias is not None:
        total += tl.load(bias + ids, mask=in_choices, other=0.0).to(tl.float32)
    for first in range(0, WIDTH, STEP):
        columns = first + part
        in_width = columns < WIDTH
        state = tl.load(states + here * WIDTH + columns, mask=in_width, other=0.0).to(tl.float32)
        state += tl.load(shift + columns, mask=in_width, other=0.0).to(tl.float32)
        mask = in_choices[:, None] & in_width[None, :]
        vectors = tl.load(vocabulary + ids[:, None] * WIDTH + columns[None, :], mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(vectors * state[None, :], 1)
    tl.store(scores + here * CANDIDATES + choices, total, mask=in_choices)


@triton.jit(do_not_specialize=["slots"])
def _walk(
    narrow, scores, candidates, last, table, outputs, recurrent, hidden_units, draft, slots,
    RANK: tl.constexpr, CANDIDATES: tl.constexpr, BLOCK_RANK: tl.constexpr, BLOCK_CANDIDATES: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """Each program chooses the tokens of one row. It adds up the units of the link STEP at a time, from the first to the last."""
    row = tl.program_id(0).to(tl.int64)
    units, choices, part = tl.arange(0, BLOCK_RANK), tl.arange(0, BLOCK_CANDIDATES), tl.arange(0, STEP)
    in_rank, in_choices = units < RANK, choices < CANDIDATES
    token = tl.load(last + row).to(tl.int64)
    hidden = tl.zeros([BLOCK_RANK], tl.float32)
    for slot in range(slots):
        here = row * slots + slot
        inputs = tl.load(narrow + here * RANK + units, mask=in_rank, other=0.0).to(tl.float32)
        inputs += tl.load(table + token * RANK + units, mask=in_rank, other=0.0).to(tl.float32)
        if recurrent is not None:
            # A product needs the units as columns: they go through memory.
            tl.store(hidden_units + row * RANK + units, hidden, mask=in_rank)
            tl.debug_barrier()
            for first in range(0, RANK, STEP):
                columns = first + part
                previous = tl.load(hidden_units + row * RANK + columns, mask=columns < RANK, other=0.0)
                mask = in_rank[:, None] & (columns < RANK)[None, :]
                weights = tl.load(recurrent + units[:, None] * RANK + columns[None, :], mask=mask, other=0.0).to(tl.float32)
                inputs += tl.sum(weights * previous[None, :], 1)
            tl.debug_barrier()
        hidden = tl.maximum(inputs, 0.0)
        ids = tl.load(candidates + here * CANDIDATES + choices, mask=in_choices, other=0).to(tl.int64)
        total = tl.load(scores + here * CANDIDATES + choices, mask=in_choices, other=-float("inf"))
        mask = in_choices[:, None] & in_rank[None, :]
        weights = tl.load(outputs + ids[:, None] * RANK + units[None, :], mask=mask, other=0.0).to(tl.float32)
        total += tl.sum(weights * hidden[None, :], 1)
        best = tl.argmax(total, 0)
        if slot == 0:
            best = best * 0  # the candidates of the first slot are in order of their scores
        token = tl.sum(tl.where(choices == best, ids, 0), 0)
        tl.store(draft + here, token)


@dataclass(frozen=True)
class LinkTables:
    """What the walk looks up for each token: the projections `inputs` (V, R) of the tokens' embeddings to the units of the link, and
    `outputs` (V, R), the change of the tokens' logits by each unit.
    """

    inputs: Tensor
    outputs: Tensor


@torch.no_grad()
def link_tables(link: SlotLink, vocabulary: Vocabulary) -> LinkTables:
    """The tables of `choose`."""
    tokens, output = vocabulary.embedding.tokens.weight, vocabulary.output.weight
    inputs = link.project(torch.arange(len(tokens), device=tokens.device), vocabulary).contiguous()
    return LinkTables(inputs, (output.float() @ link.output.weight.float()).to(output.dtype).contiguous())


def choose(
    states: Tensor, last: Tensor, link: SlotLink, vocabulary: Vocabulary, tables: LinkTables, candidates: int, shortlist: int = 0
) -> Tensor:
    """The drafted ids (B, k) for contiguous `states` (B, k, W) after the tokens `last` (B,), as `SlotLink.choose` chooses them.

    `tables` are those of `link_tables`. Each slot has `candidates` candidates, with ids below `shortlist` if it is not 0.
    """
    (rows, slots, width), rank = states.shape, tables.inputs.shape[1]
    narrow = linear(states, link.from_state)
    units = torch.cat([narrow[:, :1] + tables.inputs[last][:, None], narrow[:, 1:] + link.unknown], dim=1).relu()
    linked = linear(units, link.output, residual=states)
    best = best_tokens(linked.view(-1, width), vocabulary.output, best=candidates, shortlist=shortlist).ids
    block, block_rank = power_of_two(candidates), power_of_two(rank)
    scores = torch.empty(rows * slots, candidates, dtype=torch.float32, device=states.device)
    _weigh[(rows * slots,)](
        *(states, best, link.output.bias, vocabulary.output.weight, vocabulary.output.bias, scores),
        WIDTH=width,
        CANDIDATES=candidates,
        BLOCK=block,
        STEP=min(STEP, power_of_two(width)),
    )
    draft = torch.empty(rows, slots, dtype=torch.int64, device=states.device)
    recurrent = None if link.recurrent is None else link.recurrent.weight
    hidden = torch.empty(rows, rank, dtype=torch.float32, device=states.device)
    _walk[(rows,)](
        *(narrow, scores, best, last.contiguous(), tables.inputs, tables.outputs, recurrent, hidden, draft, slots),
        RANK=rank,
        CANDIDATES=candidates,
        BLOCK_RANK=block_rank,
        BLOCK_CANDIDATES=block,
        STEP=min(STEP, block_rank, WEIGHTS // block_rank),
        num_warps=16,
    )
    return draft
