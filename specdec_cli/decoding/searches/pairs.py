"""Candidates of a step of beam search: single tokens or pairs (Imamura and Sumita 2020, Algorithm 1)."""

import torch
from torch import Tensor


def best_tokens(scores: Tensor, following: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best `count` continuations of each sentence by one token: log probabilities, indices of hypotheses, and
    tokens, each (B, count).

    `scores` (B, K) are log probabilities of the K hypotheses of a sentence, `following` (B, K, V) those of the next
    token.
    """
    vocabulary = following.shape[-1]
    best, places = (scores[:, :, None] + following).flatten(1).topk(count, dim=1)
    return best, places // vocabulary, places % vocabulary


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
