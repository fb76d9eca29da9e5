"""The arithmetic of int8 models in numpy: slow, and bit for bit equal to the native engine.

Every operation is an IEEE 754 operation in float32; `fused` is a multiplication and an addition with one rounding. A sum has
16 lanes: lane i adds the numbers i, i + 16, i + 32, .. in this order, then `sum_lanes` adds the lanes. Integer products are exact.
So the result of a row depends only on the row, whatever hardware computes it. The code uses numpy because some of torch's
operators (square root, division by a number) are not correctly rounded on every platform.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float32]
LANES = 16
"""Sums of a row: number i is added to lane i % 16."""
LOWEST, HIGHEST = np.float32(-87.0), np.float32(88.0)
"""Bounds of the argument of `exponential`: below LOWEST the result is 0, above HIGHEST it is that for HIGHEST."""
EXACT = 1024
"""Number of inputs up to which a sum of integer products is exact in float32: 1024 * 128 * 127 is less than 2**24."""
_TAIL, _HALF = 0x1FFFFFFF, 0x10000000
"""Of the mantissa of a float64: the bits that float32 lacks, and their value half-way between two float32 numbers."""


def fused(a: Floats, b: Any, c: Any) -> Floats:
    """a * b + c, rounded once to float32.

    In float64 the product is exact and the sum is rounded. Rounding it again to float32 is wrong only if it lies
    half-way between two float32 numbers, or is subnormal in float32. In these cases the sum is rounded to odd first
    (Boldo and Melquiond 2008).
    """
    product = np.multiply(a, b, dtype=np.float64)
    total = product + c
    doubtful = ((total.view(np.int64) & _TAIL) == _HALF) | (np.abs(total) < np.finfo(np.float32).tiny)
    if doubtful.any():
        total[doubtful] = _to_odd(product[doubtful], np.broadcast_to(c, total.shape)[doubtful].astype(np.float64), total[doubtful])
    result: Floats = total.astype(np.float32)
    return result


def _to_odd(product: Any, addend: Any, total: Any) -> Any:
    """Round product + addend to odd, given the sum rounded to nearest, `total`: if inexact, the neighbour with the last bit set."""
    virtual = total - product
    error = (product - (total - virtual)) + (addend - virtual)
    inexact = (error != 0) & ((total.view(np.int64) & 1) == 0)
    return np.where(inexact, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)


def lanes(x: Floats) -> Floats:
    """Reshape (..., N) to (N / 16, ..., 16), with zeros added up to a multiple of 16."""
    missing = -x.shape[-1] % LANES
    if missing:
        x = np.concatenate([x, np.zeros((*x.shape[:-1], missing), np.float32)], -1)
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, LANES), -2, 0)


def sum_lanes(x: Floats) -> Floats:
    """The sum (...) over the last axis of (..., 16), in the fixed order of the native engine."""
    for half in (8, 4, 2, 1):
        x = x[..., :half] + x[..., half:]
    return x[..., 0]


def add_up(x: Floats) -> Floats:
    """The sum (...) over the last axis of (..., N), in the fixed order of the native engine."""
    first, *others = lanes(x)
    for part in others:
        first = first + part
    return sum_lanes(first)


def dot(x: Floats, y: Floats) -> Floats:
    """The dot products (...) of (..., N) and (..., N) over the last axis, in the fixed order of the native engine."""
    total = np.zeros(LANES, np.float32)
    for mine, theirs in zip(lanes(x), lanes(y), strict=True):
        total = fused(mine, theirs, total)
    return sum_lanes(total)


def exponential(x: Floats) -> Floats:
    """e^x for x up to 88, with an error of about 2 units in the last place; 0 below -87 (Cephes' polynomial for expf)."""
    bounded = np.clip(x, LOWEST, HIGHEST)
    shifter = np.float32(12582912.0)  # 1.5 * 2**23: adding it rounds to a whole number
    whole = fused(bounded, np.float32(1.44269504), shifter) - shifter
    rest = fused(whole, np.float32(2.12194440e-4), fused(whole, np.float32(-0.693359375), bounded))
    power = np.full_like(x, 1.9875691500e-4)
    for coefficient in (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1):
        power = fused(power, rest, np.float32(coefficient))
    power = fused(power * rest, rest, rest) + np.float32(1)
    scale = ((whole.astype(np.int32) + 127) << 23).view(np.float32)
    return np.where(x < LOWEST, np.float32(0), power * scale)


def gelu(x: Floats) -> Floats:
    """x (1 + erf(x / sqrt 2)) / 2, erf with an error of 1.5e-7 (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26)."""
    one, size = np.float32(1), np.abs(x) * np.float32(0.70710678)
    t = one / (one + size * np.float32(0.3275911))
    power = np.full_like(x, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        power = power * t + np.float32(coefficient)
    rest = power * t * exponential(-(size * size))
    return np.float32(0.5) * x * np.where(x < 0, rest, np.float32(2) - rest)


def silu(x: Floats) -> Floats:
    """x / (1 + e^-x)."""
    return x / (np.float32(1) + exponential(-x))


def gelu_tanh(x: Floats) -> Floats:
    """x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, computed as x / (1 + e^-2u) for the argument u of tanh."""
    return x / (np.float32(1) + exponential(x * fused(x * x, np.float32(-0.071354816), np.float32(-1.5957691))))


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "none": lambda x: x,
    "relu": lambda x: np.maximum(x, np.float32(0)),
    "gelu": gelu,
    "gelu-tanh": gelu_tanh,
    "silu": silu,
}


def normalize(x: Floats, weight: Floats, bias: Floats, epsilon: float) -> Floats:
    """Layer norm of `x` (..., W) over its last axis, with `weight` and `bias` (W,)."""
    width = np.float32(x.shape[-1])
    centred = x - (add_up(x) / width)[..., None]
    scale = np.float32(1) / np.sqrt(dot(centred, centred) / width + np.float32(epsilon))
    return fused(centred * scale[..., None], weight, bias)


def normalize_rms(x: Floats, weight: Floats, epsilon: float) -> Floats:
    """RMS norm of `x` (..., W) over its last axis, with `weight` (W,)."""
    scale = np.float32(1) / np.sqrt(dot(x, x) / np.float32(x.shape[-1]) + np.float32(epsilon))
    normed: Floats = x * scale[..., None] * weight
    return normed


def to_bytes(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Quantize rows (..., W) to integers from 0 to 255, as float32; return them with `low` and `step` (..., 1) of
    each row.

    x is about low + step * integer.
    """
    low = x.min(-1, keepdims=True)
    width = x.max(-1, keepdims=True) - low
    inverse = np.divide(np.float32(255), width, out=np.zeros_like(width), where=width > 0)
    return np.trunc(fused(x - low, inverse, np.float32(0.5))), low, width / np.float32(255)


def multiply(integers: Floats, weights: Tensor, sums: Tensor) -> Floats:
    """The products (..., O) of integers (..., I) from 0 to 255 with weights (I, O) from -127 to 127, computed
    exactly, then rounded to float32.

    `sums` (O,), int32, are the sums of the weights over I. Integers and weights are whole numbers in float32.
    """
    centred, total = torch.from_numpy(integers - np.float32(128)), 128 * sums
    for part, own in zip(torch.split(centred, EXACT, -1), torch.split(weights, EXACT), strict=True):
        total = total + (part @ own).to(torch.int32)
    return total.numpy().astype(np.float32)


def attend(queries: Floats, keys_values: Floats, ends: NDArray[np.int64], scale: float | None = None, bias: Floats | None = None) -> Floats:
    """Attention (B, Q, H * D) of queries (B, Q, H, D) over keys and values (B, S, 2, H, D).

    A query sees the first `ends` keys; `ends` is (B, Q), or (B, 1) if all queries of a row see the same. Scores are multiplied by `scale`
    (None: 1 / sqrt(D)); a `bias` (B, H, Q, S) is added to them.
    """
    rows, slots, heads, width = queries.shape
    positions = np.arange(ends.max())
    # Positions behind the end of a row are uninitialized.
    used = (positions < ends.max(1, keepdims=True))[:, :, None, None, None]
    keys, values = np.where(used, keys_values[:, : len(positions)], np.float32(0)).transpose(2, 0, 3, 1, 4)
    queries = queries.transpose(0, 2, 1, 3)
    factor = np.float32(1) / np.sqrt(np.float32(width)) if scale is None else np.float32(scale)
    products = _products(queries, keys)
    scores = products * factor if bias is None else fused(products, factor, bias[..., : len(positions)])
    scores = np.where((positions < ends[..., None])[:, None], scores, np.float32(-np.inf))
    weights = exponential(scores - scores.max(-1, keepdims=True))
    mixed = np.zeros(queries.shape, np.float32)
    for position in positions:
        mixed = fused(weights[..., position, None], values[:, :, None, position], mixed)
    share = np.float32(1) / add_up(weights)
    attended: Floats = (mixed * share[..., None]).transpose(0, 2, 1, 3).reshape(rows, slots, heads * width)
    return attended


def _products(queries: Floats, keys: Floats) -> Floats:
    """The products (B, H, Q, S) of queries (B, H, Q, D) with keys (B, H, S, D)."""
    total = np.zeros((*queries.shape[:3], keys.shape[2], LANES), np.float32)
    for query, key in zip(lanes(queries), lanes(keys), strict=True):
        total = fused(query[:, :, :, None], key[:, :, None], total)
    fours = total.reshape(*total.shape[:-1], 4, 4)
    sums = (fours[..., 0] + fours[..., 2]) + (fours[..., 1] + fours[..., 3])
    products: Floats = (sums[..., 0] + sums[..., 2]) + (sums[..., 1] + sums[..., 3])
    return products


def log_probabilities(logits: Floats, ids: NDArray[np.int64]) -> Floats:
    """Natural log probabilities (...) of `ids` (...) by logits (..., V), in the fixed order of the native engine."""
    top = logits.max(-1, keepdims=True)
    totals = add_up(exponential(logits - top))
    # The C library's logarithm, as in the native engine.
    logarithms = np.array([math.log(total) for total in totals.ravel().tolist()], np.float32).reshape(totals.shape)
    values: Floats = (np.take_along_axis(logits, ids[..., None], -1) - top)[..., 0] - logarithms
    return values
