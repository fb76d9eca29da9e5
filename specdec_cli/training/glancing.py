"""Glancing: show a drafter some of the answer, the more the more it gets wrong (Qian et al. 2021)."""

import torch
from torch import Tensor

from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.training.blocks import Sentences, block_states


def glance(
    network: BlockDrafter, sentences: Sentences, cuts: Tensor, visible: int, goals: Tensor, meant: Tensor, ratio: float
) -> tuple[Tensor, Tensor]:
    """Tokens to show (B, M, K; -1 where none) and the slots whose loss still counts (B, M, K).

    A first pass, under the dropout of the second, counts the wrong slots of each block; that many times `ratio`
    of its real slots are drawn. What slot j is shown is the token before the one it predicts, so the slot before
    it, which should have predicted that token, drops out of the loss. In the unshifted layout a slot is shown
    what it should have predicted itself.
    """
    # Drawn first, so that nothing lies between the dropout of the two passes.
    order = torch.rand(goals.shape, device=goals.device).masked_fill(~meant, 2.0)
    shifted = network.config.layout == "shifted"
    if shifted:
        order[..., visible - 1 :] = 2.0  # the last token of a block has no slot after it to be shown in
    devices = [goals.device] if goals.is_cuda else []
    with torch.no_grad(), torch.random.fork_rng(devices):
        states = block_states(network, sentences, cuts, goals.shape[2], visible)
        drafted = network.vocabulary.output(states).argmax(-1)
    wrong = ((drafted != goals) & meant).sum(2)
    count = (wrong * ratio).long()
    rank = order.argsort(2).argsort(2)
    hidden = (rank < count[..., None]) & (order < 2.0)
    shown = torch.where(hidden, goals, -1)
    if shifted:
        shown = torch.cat([torch.full_like(shown[..., :1], -1), shown[..., :-1]], dim=-1)
    return shown, meant & ~hidden
