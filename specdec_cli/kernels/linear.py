"""A linear layer with what stands around it in a Transformer: y = activation(norm(x) @ weight.T + bias) + residual.

The last columns of y can be written to a cache of keys and values instead. For a gated layer, `gate` then multiplies the activation of the
first half of y by the second half.
"""

from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

from specdec_cli.kernels.norm import AnyNorm, norm_arguments
from specdec_cli.kernels.tiles import FEW_ROWS, MANY, MANY_NORMALISED, MANY_ROWS, ProductTile, input_tile, large_tiles_fit
from specdec_cli.model.config import Activation

_GATED = 256
"""The units that a program of `gate` computes."""


@triton.jit
def _activated(x, ACTIVATION: tl.constexpr):
    """The numbers `x` after the activation function, or themselves."""
    if ACTIVATION == "relu":
        x = tl.maximum(x, 0.0)
    elif ACTIVATION == "gelu":
        x = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    elif ACTIVATION == "gelu-tanh":
        x = x / (1.0 + tl.exp(tl.minimum(-1.5957691216057308 * (x + 0.044715 * x * x * x), 80.0)))  # larger ones would overflow
    elif ACTIVATION == "silu":
        x = x / (1.0 + tl.exp(-x))
    return x


@triton.jit(do_not_specialize=["count", "queries"])
def _linear(
    x, weight, bias, gain, shift, residual, output, store, positions, count, queries, store_row, store_position, epsilon,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr, KEPT: tl.constexpr, ACTIVATION: tl.constexpr,
    TILE_ROWS: tl.constexpr, TILE_COLUMNS: tl.constexpr, TILE_INPUTS: tl.constexpr,
):  # fmt: skip
    """Each program computes a tile of rows and columns: it adds up each row's products from the first input to the last, TILE_INPUTS at a
    time.
    """
    rows = tl.program_id(0) * TILE_ROWS + tl.arange(0, TILE_ROWS)
    columns = tl.program_id(1) * TILE_COLUMNS + tl.arange(0, TILE_COLUMNS)
    inputs = tl.arange(0, TILE_INPUTS)
    in_rows, in_columns = rows < count, columns < COLUMNS
    starts = x + rows.to(tl.int64)[:, None] * WIDTH
    if gain is not None:
        mean = tl.zeros([TILE_ROWS], tl.float32)
        if shift is not None:
            for k in range(0, WIDTH, TILE_INPUTS):
                mask = in_rows[:, None] & (k + inputs < WIDTH)[None, :]
                mean += tl.sum(tl.load(starts + k + inputs[None, :], mask=mask, other=0.0).to(tl.float32), 1)
            mean = mean / WIDTH
        squares = tl.zeros([TILE_ROWS], tl.float32)
        for k in range(0, WIDTH, TILE_INPUTS):
            mask = in_rows[:, None] & (k + inputs < WIDTH)[None, :]
            centred = tl.load(starts + k + inputs[None, :], mask=mask, other=0.0).to(tl.float32) - mean[:, None]
            centred = tl.where(mask, centred, 0.0)
            squares += tl.sum(centred * centred, 1)
        scale = 1.0 / tl.sqrt(squares / WIDTH + epsilon)
    sums = tl.zeros([TILE_ROWS, TILE_COLUMNS], tl.float32)
    for k in range(0, WIDTH, TILE_INPUTS):
        in_width = k + inputs < WIDTH
        tile = tl.load(starts + k + inputs[None, :], mask=in_rows[:, None] & in_width[None, :], other=0.0)
        if gain is not None:
            gains = tl.load(gain + k + inputs, mask=in_width, other=0.0).to(tl.float32)
            tile = (tile.to(tl.float32) - mean[:, None]) * scale[:, None] * gains[None, :]
            if shift is not None:
                tile += tl.load(shift + k + inputs, mask=in_width, other=0.0).to(tl.float32)[None, :]
            tile = tile.to(weight.dtype.element_ty)
        weights = tl.load(
            weight + columns.to(tl.int64)[:, None] * WIDTH + k + inputs[None, :], mask=in_columns[:, None] & in_width[None, :], other=0.0
        )
        sums = tl.dot(tile, tl.trans(weights), sums, input_precision="ieee")
    if bias is not None:
        sums += tl.load(bias + columns, mask=in_columns, other=0.0).to(tl.float32)[None, :]
    sums = _activated(sums, ACTIVATION)
    kept = in_rows[:, None] & (columns < KEPT)[None, :]
    places = rows.to(tl.int64)[:, None] * KEPT + columns[None, :]
    if residual is not None:
        sums += tl.load(residual + places, mask=kept, other=0.0).to(tl.float32)
    if output is not None:
        tl.store(output + places, sums.to(output.dtype.element_ty), mask=kept)
    if store is not None:
        at = (rows // queries).to(tl.int64) * store_row + tl.load(positions + rows, mask=in_rows, other=0).to(tl.int64) * store_position
        stored = in_rows[:, None] & (in_columns & (columns >= KEPT))[None, :]
        tl.store(store + at[:, None] + (columns - KEPT)[None, :], sums.to(store.dtype.element_ty), mask=stored)


def linear(
    x: Tensor,
    layer: nn.Linear,
    *,
    norm: AnyNorm | None = None,
    activation: Activation | None = None,
    residual: Tensor | None = None,
    store: Tensor | None = None,
    positions: Tensor | None = None,
    kept: int | None = None,
    tile: ProductTile | None = None,
) -> Tensor:
    """Outputs (B, Q, N) of contiguous `x` (B, Q, K), with the weights (N, K) and the bias of `layer`.

    `norm` is applied to `x` first, `activation` to the product; `residual` (B, Q, N) is added last.

    With `store` (B, S, 2, H, D) and `positions` (B, Q), only the first `kept` columns are returned, (B, Q, `kept`). The others, keys and
    values (2, H, D), are written to `store` at the positions, in place; its last three dimensions must be contiguous. Without `tile`, the
    number of rows decides.
    """
    (rows, queries, width), columns = x.shape, layer.weight.shape[0]
    kept = columns if kept is None else kept
    output = x.new_empty(rows, queries, kept) if kept else None
    gain, shift, epsilon = norm_arguments(norm)
    positions = None if positions is None else positions.expand(rows, queries).contiguous()
    strides = (0, 0) if store is None else store.stride()[:2]
    tile = tile or product_tile(rows * queries, x, normalised=norm is not None)
    _linear[(triton.cdiv(rows * queries, tile.rows), triton.cdiv(columns, tile.columns))](
        *(x, layer.weight, layer.bias, gain, shift, residual, output, store, positions, rows * queries, queries, *strides, epsilon),
        WIDTH=width,
        COLUMNS=columns,
        KEPT=kept,
        ACTIVATION=activation or "none",
        TILE_ROWS=tile.rows,
        TILE_COLUMNS=tile.columns,
        TILE_INPUTS=input_tile(width, x),
        num_stages=tile.stages,
        num_warps=tile.warps,
    )
    return x.new_empty(rows, queries, 0) if output is None else output


@triton.jit
def _gate(units, output, ACTIVATION: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Each program computes BLOCK units of one row."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < WIDTH
    start = units + row * 2 * WIDTH + columns
    activated = _activated(tl.load(start, mask=mask, other=0.0).to(tl.float32), ACTIVATION)
    gated = activated * tl.load(start + WIDTH, mask=mask, other=0.0).to(tl.float32)
    tl.store(output + row * WIDTH + columns, gated.to(output.dtype.element_ty), mask=mask)


def gate(units: Tensor, activation: Activation) -> Tensor:
    """The activation of the first half of contiguous `units` (..., 2 * F) times the second half, (..., F) (Shazeer 2020)."""
    width = units.shape[-1] // 2
    output = units.new_empty(*units.shape[:-1], width)
    _gate[(output.numel() // width, triton.cdiv(width, _GATED))](units, output, ACTIVATION=activation, WIDTH=width, BLOCK=_GATED)
    return output


def product_tile(count: int, like: Tensor, *, normalised: bool) -> ProductTile:
    """The tile of a product of `count` rows of the type and on the device of `like`, which it may normalise first."""
    if count <= MANY or not allows_large(like):
        return FEW_ROWS
    return MANY_NORMALISED if normalised else MANY_ROWS


def allows_large(like: Tensor) -> bool:
    """Whether larger tiles of the type and on the device of `like` fit into shared memory, and give the bits of the smallest ones."""
    return large_tiles_fit(like) and (like.device.type != "cuda" or large_tiles_agree(like.device, like.dtype))


@cache
@torch.no_grad()
def large_tiles_agree(device: torch.device, dtype: torch.dtype, rows: int = 1024, width: int = 512) -> bool:
    """Whether products with the larger tiles have the bits of those with the smallest ones on `device`, where tensor cores may add up the
    products of large tiles in another order. False if they fail. The first call compiles and runs each of them, with `width` inputs.
    """
    draw = torch.Generator().manual_seed(1)
    x, weight = (torch.randn(rows, width, generator=draw).to(device, dtype) for _ in range(2))
    layer = nn.utils.skip_init(nn.Linear, width, rows, bias=False, device=device, dtype=dtype)  # it draws no weights
    layer.weight.copy_(weight)
    try:
        return all(
            torch.equal(*(linear(x[:, None], layer, norm=norm, tile=tile) for tile in (FEW_ROWS, large)))
            for norm, large in ((None, MANY_ROWS), (nn.LayerNorm(width, device=device, dtype=dtype), MANY_NORMALISED))
        )
    except Exception:  # whatever a compiler or a driver raises, the smallest tiles may still compute
        return False
