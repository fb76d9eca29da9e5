"""Sampling as a greedy choice of perturbed scores, with the same bits in both engines.

The token with the largest logit / temperature + noise, where the noise of each token is drawn from the standard Gumbel distribution,
is a sample of softmax(logits / temperature) (Gumbel 1954; Maddison et al. 2014). The noise is a function of the seed, the random
stream of the sentence, the position and the token alone. So the sampled output does not depend on how it is computed: a draft is
accepted exactly as far as it agrees with what sampling token by token gives.

Random bits come from Philox4x32-10 (Salmon et al. 2011), logarithms are sums, products and quotients of float64 numbers in a fixed
order, as in native/sampling.c.
"""

import math

import torch
from torch import Tensor

from specdec_cli.decoding.options import Sampled
from specdec_cli.model.cache import steps

_WORD = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_INCREMENTS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_TERMS = 11
"""Terms of the series of the logarithm; the first that is left out is below 2**-58 of the sum."""


def perturbed(logits: Tensor, rule: Sampled, streams: Tensor, lengths: Tensor) -> Tensor:
    """Scores (B, Q, V), float64, whose largest ones are samples, from `logits` (B, Q, V).

    `streams` (B, 2) are the random streams of the sentences, `lengths` (B,) the lengths of the prefixes of the first slot, decoder
    start included. Tokens that are not among the `top_k` best, ties included, have minus infinity.
    """
    slots, vocabulary = logits.shape[1:]
    positions = lengths[:, None] + steps(slots, logits.device)
    scores = logits.double() * (1.0 / rule.temperature) + gumbel_noise(rule.seed, streams, positions, vocabulary)
    if not rule.top_k:
        return scores
    least = logits.topk(min(rule.top_k, vocabulary), dim=-1).values[..., -1:]
    return scores.masked_fill(logits < least, -math.inf)


def gumbel_noise(seed: int, streams: Tensor, positions: Tensor, vocabulary: int) -> Tensor:
    """Standard Gumbel noise (B, Q, V), float64, for the first `vocabulary` tokens at `positions` (B, Q) of outputs."""
    blocks = steps(-(-vocabulary // 4), positions.device)
    counter = (blocks, positions[..., None], *streams.T[..., None, None])
    words = torch.stack(philox(counter, (seed & _WORD, seed >> 32 & _WORD)), dim=-1)
    uniform = (words.flatten(-2)[..., :vocabulary].double() + 0.5) * 2.0**-32
    return -logarithm(-logarithm(uniform))


def philox(counter: tuple[Tensor, ...], key: tuple[int, int]) -> list[Tensor]:
    """Four random words for each counter of four words; words are 32 bits, in int64 tensors that broadcast together."""
    a, b, c, d = counter
    key_0, key_1 = key
    for _ in range(_ROUNDS):
        product_0, product_1 = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, c = (product_1 >> 32 & _WORD) ^ b ^ key_0, (product_0 >> 32 & _WORD) ^ d ^ key_1
        b, d = product_1 & _WORD, product_0 & _WORD
        key_0, key_1 = key_0 + _INCREMENTS[0] & _WORD, key_1 + _INCREMENTS[1] & _WORD
    return [a, b, c, d]


def logarithm(x: Tensor) -> Tensor:
    """The natural logarithm of positive float64 numbers, accurate to about 1e-15 of it or, near 1, of x - 1.

    2 artanh(s) for s = (m - 1) / (m + 1) by its series, where x = m * 2**e and m is between the roots of 1/2 and of 2.
    """
    mantissa, exponent = torch.frexp(x)
    small = mantissa < math.sqrt(0.5)
    mantissa = torch.where(small, mantissa * 2.0, mantissa)
    power = exponent.double() - small.double()
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    series = torch.full_like(square, 1.0 / (2 * _TERMS - 1))
    for term in reversed(range(_TERMS - 1)):
        series = series * square + 1.0 / (2 * term + 1)
    return power * math.log(2.0) + (ratio * 2.0) * series
