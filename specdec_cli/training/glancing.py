"""Glancing (Qian et al. 2021): target tokens replace some masks in the drafter's input, the more the more slots it predicts wrongly."""

import torch
from torch import Tensor

from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.training.blocks import EncodedSentences, block_states


def glance(
    network: BlockDrafter, sentences: EncodedSentences, cuts: Tensor, visible: int, labels: Tensor, loss_mask: Tensor, ratio: float
) -> tuple[Tensor, Tensor]:
    """Draw the target tokens to put into the drafter's input; return them and the remaining loss mask.

    `cuts` (B, M) are the prefix lengths of the blocks, `labels` (B, M, K) the ids that the slots should predict, and the boolean
    `loss_mask` (B, M, K) is true for slots with a loss. A first pass without gradients, with the same dropout as the training pass,
    counts the wrong slots of each block; `ratio` times as many slots of the block are drawn at random. The label of a drawn
    slot is put into the input of the next slot (shifted layout) or of the slot itself (unshifted), and the drawn slot is
    taken out of the loss. Returns ids (B, M, K), -1 where the mask token stays, and a new boolean loss mask (B, M, K).
    """
    # Drawn before the first pass: no random number may be drawn between the two passes but for their dropout.
    order = torch.rand(labels.shape, device=labels.device).masked_fill(~loss_mask, 2.0)
    shifted = network.config.layout == "shifted"
    if shifted:
        order[..., visible - 1 :] = 2.0  # the last slot of a block has no next slot
    devices = [labels.device] if labels.is_cuda else []
    with torch.no_grad(), torch.random.fork_rng(devices):
        states = block_states(network, sentences, cuts, labels.shape[2], visible)
        drafted = network.vocabulary.output(states).argmax(-1)
    wrong = ((drafted != labels) & loss_mask).sum(2)
    count = (wrong * ratio).long()
    rank = order.argsort(2).argsort(2)
    hidden = (rank < count[..., None]) & (order < 2.0)
    glanced = torch.where(hidden, labels, -1)
    if shifted:
        glanced = torch.cat([torch.full_like(glanced[..., :1], -1), glanced[..., :-1]], dim=-1)
    return glanced, loss_mask & ~hidden
