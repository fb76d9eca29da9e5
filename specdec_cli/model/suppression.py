"""Suppressed tokens, which are never output, because their bias in the output projection is far below all other
logits.
"""

import torch
from torch import Tensor

SUPPRESSED = -1e4
"""Value that is added to the output bias of a suppressed token; finite in every number format."""


def without_suppression(logits: Tensor) -> Tensor:
    """Float32 logits (..., V), for normalisation over all tokens: SUPPRESSED (-10000), which the output bias adds to
    the logits of suppressed tokens, is subtracted from these logits again.

    Logits in half precision are only converted: there the original value of a suppressed logit is lost to rounding.
    """
    if logits.dtype not in (torch.float32, torch.float64):
        return logits.float()
    return torch.where(suppressed(logits), logits - SUPPRESSED, logits).float()


def suppressed(logits: Tensor) -> Tensor:
    """A boolean tensor, of the shape of `logits`, that is true for suppressed tokens: those with a logit below
    -5000, half of SUPPRESSED, which is added to the output bias of such tokens.
    """
    return logits < SUPPRESSED / 2
