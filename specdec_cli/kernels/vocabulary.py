"""The best tokens of a state, and log probabilities, from the product with the output projection; no logits are written.

Each tile of the vocabulary gives its best tokens and the sum of its exponentials, and a second kernel merges the tiles from the first to
the last.
"""

from dataclasses import dataclass
from typing import Literal

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

from specdec_cli.kernels.linear import allows_large
from specdec_cli.kernels.tiles import FEW_TOKENS, MANY_TOKENS, MERGED, ROWS, input_tile, power_of_two


@triton.jit(do_not_specialize=["count"])
def _score(
    states, weight, bias, forms, forbidden, chosen, values, ids, tops, sums, chosen_logits, logits, count,
    WIDTH: tl.constexpr, VOCABULARY: tl.constexpr, TILES: tl.constexpr, BEST: tl.constexpr, FORBIDDEN: tl.constexpr,
    TILE_ROWS: tl.constexpr, TILE_COLUMNS: tl.constexpr, TILE_INPUTS: tl.constexpr,
):  # fmt: skip
    """Each program computes a tile of rows and tokens."""
    rows = tl.program_id(0) * TILE_ROWS + tl.arange(0, TILE_ROWS)
    first = tl.program_id(1) * TILE_COLUMNS
    tokens = first + tl.arange(0, TILE_COLUMNS)
    inputs = tl.arange(0, TILE_INPUTS)
    in_rows, in_vocabulary = rows < count, tokens < VOCABULARY
    long_rows = rows.to(tl.int64)
    scores = tl.zeros([TILE_ROWS, TILE_COLUMNS], tl.float32)
    for k in range(0, WIDTH, TILE_INPUTS):
        in_width = k + inputs < WIDTH
        mask = in_rows[:, None] & in_width[None, :]
        tile = tl.load(states + long_rows[:, None] * WIDTH + k + inputs[None, :], mask=mask, other=0.0)
        mask = in_vocabulary[:, None] & in_width[None, :]
        weights = tl.load(weight + tokens.to(tl.int64)[:, None] * WIDTH + k + inputs[None, :], mask=mask, other=0.0)
        scores = tl.dot(tile, tl.trans(weights), scores, input_precision="ieee")
    if bias is not None:
        scores += tl.load(bias + tokens, mask=in_vocabulary, other=0.0).to(tl.float32)[None, :]
    mask = in_rows[:, None] & in_vocabulary[None, :]
    offsets = long_rows[:, None] * VOCABULARY + tokens[None, :]
    scores = tl.where(mask, scores, -float("inf"))
    at = long_rows * TILES + tl.program_id(1)
    if tops is not None:
        highest = tl.max(scores, 1)
        tl.store(tops + at, highest, mask=in_rows)
        tl.store(sums + at, _exponentials(scores, highest), mask=in_rows)
    if forms is not None:
        form = tl.load(forms + tokens, mask=in_vocabulary, other=0)
        for number in range(FORBIDDEN):
            other = tl.load(forbidden + long_rows * FORBIDDEN + number, mask=in_rows, other=0)
            scores = tl.where((form[None, :] == other[:, None]) & (other > 0)[:, None], -float("inf"), scores)
    if logits is not None:
        tl.store(logits + offsets, scores, mask=mask)
    if chosen is not None:
        token = tl.load(chosen + rows, mask=in_rows, other=-1)
        score = tl.max(tl.where(tokens[None, :] == token[:, None], scores, -float("inf")), 1)
        tl.store(chosen_logits + rows, score, mask=in_rows & (token >= first) & (token < first + TILE_COLUMNS))
    if sums is not None and tops is None:
        tl.store(sums + at, _exponentials(scores, tl.max(scores, 1)), mask=in_rows)
    for number in range(BEST):
        top, column = tl.max(scores, 1, return_indices=True, return_indices_tie_break_left=True)
        tl.store(values + at * BEST + number, top, mask=in_rows)
        tl.store(ids + at * BEST + number, first + column, mask=in_rows)
        scores = tl.where(tokens[None, :] == (first + column)[:, None], -float("inf"), scores)


@triton.jit
def _exponentials(scores, top):
    """For each row of `scores`, the sum of exp(score - top), where `top` has the largest score of each row."""
    top = tl.where(top == -float("inf"), 0.0, top)
    return tl.sum(tl.exp(scores - top[:, None]), 1)


@triton.jit
def _merge(values, ids, tops, sums, best_values, best_ids, totals, TILES: tl.constexpr, BEST: tl.constexpr, BLOCK: tl.constexpr):
    """Each program finds for one row the best of the tiles' best tokens, and the logarithm of the sum of all exponentials."""
    row = tl.program_id(0).to(tl.int64)
    numbers = tl.arange(0, BLOCK)
    mask = numbers < TILES * BEST
    scores = tl.load(values + row * TILES * BEST + numbers, mask=mask, other=-float("inf"))
    if sums is not None:
        if tops is not None:
            highest = tl.load(tops + row * TILES + numbers, mask=numbers < TILES, other=-float("inf"))
        else:
            highest = tl.load(values + (row * TILES + numbers) * BEST, mask=numbers < TILES, other=-float("inf"))
        top = tl.max(highest, 0)
        parts = tl.load(sums + row * TILES + numbers, mask=numbers < TILES, other=0.0)
        tl.store(totals + row, tl.log(tl.sum(parts * tl.exp(highest - top), 0)) + top)
    for number in range(BEST):
        top, index = tl.max(scores, 0, return_indices=True, return_indices_tie_break_left=True)
        tl.store(best_values + row * BEST + number, top)
        tl.store(best_ids + row * BEST + number, tl.load(ids + row * TILES * BEST + index).to(tl.int64))
        scores = tl.where(numbers == index, -float("inf"), scores)


@dataclass(frozen=True)
class Best:
    """The best tokens of N states: `ids` (N, n) from the best to the n-th, of equal ones the smaller id first, and their logits `values`
    (N, n) in float32.

    `chosen` (N,) are the logits of the tokens that were asked for, `totals` (N,) the logarithms of the sums of all exponentials: a
    logit minus the total is a log probability. `logits` (N, V) are all of them. Each is None if it was not asked for.
    """

    ids: Tensor
    values: Tensor
    chosen: Tensor | None
    totals: Tensor | None
    logits: Tensor | None


def best_tokens(
    states: Tensor,
    output: nn.Linear,
    *,
    best: int = 1,
    shortlist: int = 0,
    forms: Tensor | None = None,
    forbidden: Tensor | None = None,
    chosen: Tensor | None = None,
    totals: bool | Literal["all"] = False,
    logits: bool = False,
) -> Best:
    """The `best` best tokens of contiguous `states` (N, W), by the output projection `output`.

    Only tokens below `shortlist` count, if it is not 0, and not those whose form in `forms` (V,) is one of the `forbidden` (N, F) of a row
    that are not 0: their logits are minus infinity. `chosen` (N,) are the tokens whose logits are wanted, -1 for none (then the logit is
    minus infinity). `totals` are those of the tokens that count, or with "all" of all tokens.
    """
    (count, width), vocabulary = states.shape, shortlist or output.weight.shape[0]
    # The sum of exponentials over a tile has another order in another tile.
    product = MANY_TOKENS if count > ROWS and not totals and allows_large(states) else FEW_TOKENS
    tile = min(product.columns, power_of_two(vocabulary))
    tiles, rows = triton.cdiv(vocabulary, tile), triton.cdiv(count, product.rows)

    def numbers(*shape: int, wanted: bool = True) -> Tensor | None:
        return torch.empty(*shape, dtype=torch.float32, device=states.device) if wanted else None

    values, sums = numbers(count, tiles, best), numbers(count, tiles, wanted=bool(totals))
    tops = numbers(count, tiles, wanted=totals == "all")
    ids = torch.empty(count, tiles, best, dtype=torch.int32, device=states.device)
    chosen_logits = None if chosen is None else torch.full((count,), -torch.inf, device=states.device)
    written = numbers(count, vocabulary, wanted=logits)
    _score[(rows, tiles)](
        *(states, output.weight, output.bias, forms, forbidden),
        *(None if chosen is None else chosen.contiguous(), values, ids, tops, sums, chosen_logits, written, count),
        WIDTH=width,
        VOCABULARY=vocabulary,
        TILES=tiles,
        BEST=best,
        FORBIDDEN=0 if forbidden is None else forbidden.shape[1],
        TILE_ROWS=product.rows,
        TILE_COLUMNS=tile,
        TILE_INPUTS=input_tile(width, states),
        num_stages=product.stages,
        num_warps=product.warps,
    )
    best_values = torch.empty(count, best, device=states.device)
    best_ids = torch.empty(count, best, dtype=torch.int64, device=states.device)
    sizes, block = numbers(count, wanted=bool(totals)), power_of_two(tiles * best)
    warps = 4 if block <= MERGED else 16
    _merge[(count,)](values, ids, tops, sums, best_values, best_ids, sizes, TILES=tiles, BEST=best, BLOCK=block, num_warps=warps)
    return Best(best_ids, best_values, chosen_logits, sizes, written)
