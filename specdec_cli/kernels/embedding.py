"""Token and position embeddings: x = norm(tokens[id] * scale + positions[position + offset]).

Models with relative positions have no table of positions, and some have no norm.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from specdec_cli.kernels.norm import norm_arguments, normalised
from specdec_cli.kernels.tiles import power_of_two
from specdec_cli.model.layers import Embedding


@triton.jit
def _embed(ids, positions, table, position_table, gain, shift, output, scale, offset, epsilon, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Each program embeds one token."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < WIDTH
    token = tl.load(ids + row).to(tl.int64)
    x = tl.load(table + token * WIDTH + columns, mask=mask, other=0.0).to(tl.float32) * scale
    if position_table is not None:
        position = tl.load(positions + row).to(tl.int64) + offset
        x += tl.load(position_table + position * WIDTH + columns, mask=mask, other=0.0).to(tl.float32)
    if gain is not None:
        x = normalised(x, mask, gain, shift, columns, epsilon, WIDTH)
    tl.store(output + row * WIDTH + columns, x.to(output.dtype.element_ty), mask=mask)


def embed(ids: Tensor, positions: Tensor, embedding: Embedding) -> Tensor:
    """Embeddings (B, Q, W) of `ids` (B, Q) at `positions` (B, Q), by the tables, scale and norm of `embedding`."""
    table = embedding.tokens.weight
    width = table.shape[1]
    output = torch.empty(*ids.shape, width, dtype=table.dtype, device=table.device)
    gain, shift, epsilon = norm_arguments(embedding.norm)
    ids, positions, places = ids.contiguous(), positions.contiguous(), embedding.positions if len(embedding.positions) else None
    _embed[(ids.numel(),)](
        *(ids, positions, table, places, gain, shift, output, embedding.scale, embedding.offset, epsilon),
        WIDTH=width,
        BLOCK=power_of_two(width),
    )
    return output
