"""Candidates of a step of beam search: single tokens or pairs (Imamura and Sumita 2020, Algorithm 1)."""

import torch
from torch import Tensor

from specdec_cli.decoding import graphs
from specdec_cli.model.cache import steps


def best_tokens(scores: Tensor, following: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best `count` continuations of each sentence by one token: log probabilities, indices of hypotheses, and
    tokens, each (B, count). Equal ones are in the order of hypotheses, then of tokens.

    `scores` (B, K) are log probabilities of the K hypotheses of a sentence, `following` (B, K, V) those of the next
    token.
    """
    vocabulary = following.shape[-1]
    best, places = _largest((scores[:, :, None] + following).flatten(1), count)
    return best, places // vocabulary, places % vocabulary


def _largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest `count` of `values` (B, N), largest first, and their indices; of equal values, the first."""
    if not graphs.can_branch(values.device):
        return largest_by_keys(values, count)
    largest, places = values.topk(count, dim=1)
    # Which of equal values torch.topk chooses, and in which order, is not specified.
    if bool(((values >= largest[:, -1:]) & (values > -torch.inf)).sum() > (largest > -torch.inf).sum()):
        ordered, indices = values.sort(dim=1, descending=True, stable=True)
        return ordered[:, :count], indices[:, :count]
    places = places.sort(dim=1).values
    largest, order = values.gather(1, places).sort(dim=1, descending=True, stable=True)
    return largest, places.gather(1, order)


def largest_by_keys(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The largest `count` of float32 `values` (B, N), largest first, and their indices; of equal values, the first. No value is read.

    The values become integers in the same order, and the indices, counted from the last, the digits behind them.
    """
    bits, last = (values + 0.0).view(torch.int32).long(), values.shape[1] - 1
    ordered = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    keys = (ordered << 32) + last - steps(values.shape[1], values.device)
    places = last - (keys.topk(count, dim=1).values & 0xFFFFFFFF)
    return values.gather(1, places), places


def best_pairs(scores: Tensor, left: Tensor, right: Tensor, end: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best 3 K continuations of each sentence by a pair of tokens (DOUBLETOPK of Imamura and Sumita 2020): log
    probabilities (B, 3 K), indices of hypotheses (B, 3 K), and tokens (B, 3 K, 2).

    `scores` (B, K) are log probabilities of the K hypotheses, `left` and `right` (B, K, V) those of the next two
    tokens, which are independent of each other. The best 2 K left tokens are chosen first, then right tokens for
    them. After the id `end` on the left only `end` is allowed on the right, as in every folded sentence. So each of
    the 2 K left tokens has one pair that ends a hypothesis, and at least K of the 3 K pairs continue.
    """
    beam = scores.shape[1]
    left_scores, parents, lefts = best_tokens(scores, left, 2 * beam)
    # No other right tokens of a hypothesis than its best 3 W can be in the best 3 W pairs.
    count = min(3 * beam, right.shape[2])
    rights, tokens = (part.gather(1, parents[:, :, None].expand(-1, -1, count)) for part in right.topk(count, dim=2))
    only_end = torch.full_like(rights, -torch.inf)
    only_end[:, :, 0] = right[:, :, end].gather(1, parents)
    ended = (lefts == end)[:, :, None]
    rights, tokens = torch.where(ended, only_end, rights), tokens.masked_fill(ended, end).flatten(1)
    best, chosen, places = best_tokens(left_scores, rights, 3 * beam)
    pairs = torch.stack([lefts.gather(1, chosen), tokens.gather(1, chosen * count + places)], dim=2)
    return best, parents.gather(1, chosen), pairs
