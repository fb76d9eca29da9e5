"""Attention of a block of queries (Vaswani et al. 2017), with the softmax computed while keys are read (Milakov and Gimelshein 2018).

One kernel serves self-attention over a cache, cross-attention, drafts that attend to themselves both ways, and hypotheses that share a
cache: a query sees the first keys of its row, or of its hypothesis, and how many is an input.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from specdec_cli.kernels.tiles import KEYS, ROWS, attention_stages, power_of_two

EMPTY = tl.constexpr(-1e30)
"""The score of a hidden key, finite because the difference of infinities is not a number."""


@triton.jit(do_not_specialize=["count", "tiles", "ends_row", "ends_query", "orders_row"])
def _attend(
    queries, store, ends, orders, biases, positions, output, count, tiles, ends_row, ends_query, orders_row, store_row, store_position,
    scale, REACH: tl.constexpr, DISTANCES: tl.constexpr, HYPOTHESES: tl.constexpr, HEADS: tl.constexpr, HEAD_WIDTH: tl.constexpr,
    TILE_QUERIES: tl.constexpr, TILE_KEYS: tl.constexpr, TILE_WIDTH: tl.constexpr,
):  # fmt: skip
    """Each program computes one head for a tile of a row's queries. Keys are added up from the first to the last, TILE_KEYS at a time.
    Tiles behind the last key of a query add zeros to its sums, and so change no bit. With `orders` a row is one of the HYPOTHESES of a
    row of `store`. With `biases` the score of each key gets the number of its distance from the query.
    """
    row = (tl.program_id(0) // tiles).to(tl.int64)
    head = tl.program_id(1)
    number = (tl.program_id(0) % tiles) * TILE_QUERIES + tl.arange(0, TILE_QUERIES)
    units, keys = tl.arange(0, TILE_WIDTH), tl.arange(0, TILE_KEYS)
    in_queries, in_width = number < count, units < HEAD_WIDTH
    visible = tl.load(ends + row * ends_row + number * ends_query, mask=in_queries, other=1).to(tl.int32)
    visible = tl.maximum(visible, 1)
    places = ((row * count + number) * HEADS + head)[:, None] * HEAD_WIDTH + units[None, :]
    query = tl.load(queries + places, mask=in_queries[:, None] & in_width[None, :], other=0.0)
    start = store + row // HYPOTHESES * store_row + head * HEAD_WIDTH
    if biases is not None:
        query_position = tl.load(positions + row * count + number, mask=in_queries, other=0).to(tl.int32)
    top = tl.full([TILE_QUERIES], EMPTY, tl.float32)
    total = tl.zeros([TILE_QUERIES], tl.float32)
    sums = tl.zeros([TILE_QUERIES, TILE_WIDTH], tl.float32)
    last = tl.max(visible, 0)
    for first in range(0, last, TILE_KEYS):
        position = first + keys
        mask = (position < last)[:, None] & in_width[None, :]
        index = position.to(tl.int64)
        if orders is not None:
            index = index * HYPOTHESES + tl.load(orders + row * orders_row + position, mask=position < last, other=0)
        at = start + index[:, None] * store_position + units[None, :]
        scores = tl.dot(query, tl.trans(tl.load(at, mask=mask, other=0.0)), input_precision="ieee") * scale
        if biases is not None:
            column = tl.minimum(tl.maximum(position[None, :] - query_position[:, None] + REACH, 0), DISTANCES - 1)
            scores += tl.load(biases + head * DISTANCES + column).to(tl.float32)
        seen = position[None, :] < visible[:, None]
        scores = tl.where(seen, scores, EMPTY)
        highest = tl.maximum(top, tl.max(scores, 1))
        shares = tl.where(seen, tl.exp(scores - highest[:, None]), 0.0)
        shrink = tl.exp(top - highest)
        total = total * shrink + tl.sum(shares, 1)
        values = tl.load(at + HEADS * HEAD_WIDTH, mask=mask, other=0.0)
        sums = tl.dot(shares.to(values.dtype), values, sums * shrink[:, None], input_precision="ieee")
        top = highest
    mixed = (sums / total[:, None]).to(output.dtype.element_ty)
    tl.store(output + places, mixed, mask=in_queries[:, None] & in_width[None, :])


class Relative(NamedTuple):
    """What self-attention adds to its scores: contiguous `biases` (H, D) by head and distance, of which column `reach` is that of the query
    itself, and the contiguous `positions` (B, Q) of the queries.
    """

    biases: Tensor
    reach: int
    positions: Tensor


def attend(
    queries: Tensor,
    keys_values: Tensor,
    ends: Tensor,
    orders: Tensor | None = None,
    *,
    scale: float | None = None,
    relative: Relative | None = None,
) -> Tensor:
    """Attention (B, Q, W) of contiguous `queries` (B, Q, W) over `keys_values` (B, S, 2, H, D), where W is H * D. Scores are multiplied by
    `scale` (None: 1 / sqrt(D)), and those of `relative` positions are added to them; key number p is at position p.

    Query q of row b sees the first `ends`[b, q] keys, at least 1; `ends` is (B, Q), or (B, 1) if the queries of a row see the same. The
    last three dimensions of `keys_values` must be contiguous. Keys that no query of a row sees are not read, so they may be of any value.

    With contiguous `orders` (B, K, P) the queries of a row are those of its K hypotheses, one hypothesis after the other, and the keys of
    position p of hypothesis k are those at p * K + `orders`[b, k, p] of the row (see model/cache.py).
    """
    (rows, count, _), (heads, head_width) = queries.shape, keys_values.shape[3:]
    output, ends, hypotheses, orders_row = torch.empty_like(queries), ends.expand(rows, count), 1, 0
    if orders is not None:
        hypotheses, orders_row = orders.shape[1:]
        rows, count = rows * hypotheses, count // hypotheses
        ends = ends.reshape(rows, count)
    biases, positions, reach = None, None, 0
    if relative is not None:
        biases, reach, positions = relative
    tiles = triton.cdiv(count, ROWS)
    _attend[(rows * tiles, heads)](
        *(queries, keys_values, ends, orders, biases, positions, output, count, tiles, *ends.stride(), orders_row),
        *keys_values.stride()[:2],
        head_width**-0.5 if scale is None else scale,
        REACH=reach,
        DISTANCES=1 if biases is None else biases.shape[1],
        HYPOTHESES=hypotheses,
        HEADS=heads,
        HEAD_WIDTH=head_width,
        TILE_QUERIES=ROWS,
        TILE_KEYS=KEYS,
        TILE_WIDTH=power_of_two(head_width),
        num_stages=attention_stages(head_width, queries),
        num_warps=2,
    )
    return output
