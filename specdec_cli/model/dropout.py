"""Dropout that takes one random byte for each element."""

import torch
from torch import Tensor, nn

_BYTE = 256


class Dropout(nn.Module):
    """Dropout (Srivastava et al. 2014) at a rate rounded to a multiple of 1/256.

    One random number per element would take a seventh of a training step on a CPU; one random byte per element is enough.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.threshold = round(rate * _BYTE)

    def forward(self, x: Tensor) -> Tensor:
        """Set random elements of `x` to 0 and scale the others up, in a new tensor; in evaluation mode, return `x`."""
        if not self.training or self.threshold == 0:
            return x
        words = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.threshold
        return x * kept.to(x.dtype).mul_(_BYTE / (_BYTE - self.threshold))
