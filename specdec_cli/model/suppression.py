"""Tokens that are never written: their bias in the output projection is lowered far below all logits."""

import torch
from torch import Tensor

SUPPRESSED = -1e4
"""What is added to the output bias of a token that is never written; finite in every number format."""


def without_suppression(logits: Tensor) -> Tensor:
    """Float32 logits as they are without suppression, to normalise over all tokens.

    In a half-precision format the rest of a suppressed logit is rounded away, so such logits stay as they are.
    """
    if logits.dtype not in (torch.float32, torch.float64):
        return logits.float()
    return torch.where(suppressed(logits), logits - SUPPRESSED, logits).float()


def suppressed(logits: Tensor) -> Tensor:
    """Which logits are those of suppressed tokens."""
    return logits < SUPPRESSED / 2
