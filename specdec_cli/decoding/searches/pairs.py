"""Candidates of a step of beam search: single tokens or pairs (Imamura and Sumita, Algorithm 1)."""

import torch
from torch import Tensor


def best_tokens(scores: Tensor, following: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best `count` continuations of each sentence by one token: scores, indices of hypotheses, and tokens, each (B, count).

    `scores` (B, W) are log probabilities of the hypotheses, `following` (B, W, V) those of the next token.
    """
    vocabulary = following.shape[-1]
    best, places = (scores[:, :, None] + following).flatten(1).topk(count, dim=1)
    return best, places // vocabulary, places % vocabulary


def best_pairs(scores: Tensor, left: Tensor, right: Tensor, end: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best 3 W continuations by a pair (DOUBLETOPK): scores, indices of hypotheses (B, 3 W), and tokens (B, 3 W, 2).

    `scores` (B, W) are log probabilities of the hypotheses, `left` and `right` (B, W, V) those of the next two tokens, which
    are independent of each other. The best 2 W left tokens are chosen first, then right tokens for them. After an `end` on
    the left only an `end` is allowed on the right, as in every folded sentence. So each of the 2 W left tokens has one pair
    that ends a hypothesis, and at least W of the 3 W pairs continue.
    """
    beam = scores.shape[1]
    left_scores, parents, lefts = best_tokens(scores, left, 2 * beam)
    rights = right.gather(1, parents[:, :, None].expand(-1, -1, right.shape[2]))
    others = torch.arange(right.shape[2], device=right.device) != end
    rights = rights.masked_fill((lefts == end)[:, :, None] & others, -torch.inf)
    best, chosen, tokens = best_tokens(left_scores, rights, 3 * beam)
    return best, parents.gather(1, chosen), torch.stack([lefts.gather(1, chosen), tokens], dim=2)
