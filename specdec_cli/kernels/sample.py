"""Sampling: the token with the best perturbed score of each position, with the bits of decoding/sampling.py.

The noise of a token is computed where its logit is read, and not written. All sums, products and quotients are of float64 numbers, in the
order of the operators; a product and a sum are never fused.
"""

import math
import struct
from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

from specdec_cli.decoding.options import Sampled

WIDTH = 1024
"""Tokens of a tile."""
TERMS = tl.constexpr(11)
"""Terms of the series of the logarithm, as in decoding/sampling.py."""


@triton.jit
def _logarithm(x, table):
    """The natural logarithm of normal positive float64 numbers: the mantissa is brought between the roots of 1/2 and of 2."""
    bits = x.to(tl.int64, bitcast=True)
    mantissa = ((bits & 0x000FFFFFFFFFFFFF) | 0x3FE0000000000000).to(tl.float64, bitcast=True)
    small = mantissa < tl.load(table + TERMS)
    mantissa = tl.where(small, mantissa + mantissa, mantissa)
    power = (((bits >> 52) & 0x7FF) - 1022).to(tl.float64) - small.to(tl.float64)
    one = tl.load(table)
    ratio = (mantissa - one) / (mantissa + one)
    square = ratio * ratio
    series = square * 0 + tl.load(table + TERMS - 1)
    for term in tl.static_range(TERMS - 1):
        series = series * square + tl.load(table + TERMS - 2 - term)
    return power * tl.load(table + TERMS + 1) + (ratio + ratio) * series


@triton.jit(do_not_specialize=["seed", "inverse"])
def _sample(
    logits, least, streams, lengths, table, best, ids, seed, inverse, QUERIES: tl.constexpr, VOCABULARY: tl.constexpr, TILES: tl.constexpr,
    BLOCKS: tl.constexpr,
):  # fmt: skip
    """Each program finds the best token of a tile at one position. A block of the generator has the words of four tokens. `inverse` has the
    bits of 1 / temperature.
    """
    position = tl.program_id(0).to(tl.int64)
    row = position // QUERIES
    block = tl.program_id(1) * BLOCKS + tl.arange(0, BLOCKS)
    zeros = block * 0
    position_of_draw = (tl.load(lengths + row) + position % QUERIES).to(tl.int32) + zeros
    first, second = tl.load(streams + 2 * row).to(tl.uint32), tl.load(streams + 2 * row + 1).to(tl.uint32)
    words = tl.philox(
        seed, block.to(tl.uint32), position_of_draw.to(tl.uint32), first + zeros.to(tl.uint32), second + zeros.to(tl.uint32), n_rounds=10
    )
    half, scale, temperature = tl.load(table + TERMS + 2), tl.load(table + TERMS + 3), inverse.to(tl.float64, bitcast=True)
    top = tl.full([BLOCKS], -float("inf"), tl.float64)
    token = zeros + VOCABULARY
    for number in tl.static_range(4):
        tokens = 4 * block + number
        logit = tl.load(logits + position * VOCABULARY + tokens, mask=tokens < VOCABULARY, other=-float("inf"))
        noise = -_logarithm(-_logarithm((words[number].to(tl.float64) + half) * scale, table), table)
        score = logit.to(tl.float64) * temperature + noise
        if least is not None:
            score = tl.where(logit < tl.load(least + position), -float("inf"), score)
        better = score > top
        top, token = tl.where(better, score, top), tl.where(better, tokens, token)
    highest = tl.max(top, 0)
    at = position * TILES + tl.program_id(1)
    tl.store(best + at, highest)
    tl.store(ids + at, tl.min(tl.where(top == highest, token, VOCABULARY), 0))


def sample(logits: Tensor, rule: Sampled, streams: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The tokens (B, Q) with the largest perturbed score, the first one of equal ones, and these scores (B, Q) in float64.

    `logits` (B, Q, V) are in float32 and contiguous; `streams` (B, 2) and `lengths` (B,) are as for `sampling.perturbed`.
    """
    rows, queries, vocabulary = logits.shape
    tiles = triton.cdiv(vocabulary, WIDTH)
    least = logits.topk(min(rule.top_k, vocabulary), dim=-1).values[..., -1].contiguous() if rule.top_k else None
    best = torch.empty(rows, queries, tiles, dtype=torch.float64, device=logits.device)
    ids = torch.empty(rows, queries, tiles, dtype=torch.int64, device=logits.device)
    _sample[(rows * queries, tiles)](
        *(logits, least, streams.contiguous(), lengths, _table(logits.device), best, ids, rule.seed, _bits(1.0 / rule.temperature)),
        QUERIES=queries,
        VOCABULARY=vocabulary,
        TILES=tiles,
        BLOCKS=WIDTH // 4,
        enable_fp_fusion=False,
    )
    highest = best.amax(-1)
    return ids.masked_fill(best < highest[..., None], vocabulary).amin(-1), highest


def _bits(number: float) -> int:
    """The bits of a float64 number: Triton would take the number for float32."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


@cache
def _table(device: torch.device) -> Tensor:
    """The constants of the kernel in float64. They are kept for good, since CUDA graphs read them."""
    terms = [1.0 / (2 * term + 1) for term in range(int(TERMS))]
    return torch.tensor([*terms, math.sqrt(0.5), math.log(2.0), 0.5, 2.0**-32], dtype=torch.float64).to(device)
