"""The network that predicts the length of the target, for models that predict all tokens at once."""

import torch
from torch import Tensor, nn


class LengthHead(nn.Module):
    """Predicts how many tokens the target has more than the source, from -`reach` to `reach`.

    It reads the mean of the encoder's states, as fairseq's CMLM does. Mask-Predict (Ghazvininejad et al. 2019,
    Section 3.3) instead reads the encoder's state of an additional token.
    """

    def __init__(self, width: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.output = nn.Linear(width, 2 * reach + 1)

    def mean(self, states: Tensor, ends: Tensor) -> Tensor:
        """The mean (B, W), for each row, of the first `ends` (B, 1) of the encoder's states (B, S, W)."""
        own = torch.arange(states.shape[1], device=states.device) < ends
        return states.masked_fill(~own[..., None], 0.0).sum(1) / ends

    def forward(self, states: Tensor, ends: Tensor) -> Tensor:
        """Logits (B, 2 * reach + 1) of the differences of lengths, from the encoder's states (B, S, W) and their
        numbers `ends` (B, 1).
        """
        logits: Tensor = self.output(self.mean(states, ends))
        return logits

    def classes(self, differences: Tensor) -> Tensor:
        """The indices (...) of `differences` (...) of lengths in the logits; differences beyond `reach` are clamped
        to it.
        """
        return differences.clamp(-self.reach, self.reach) + self.reach

    def differences(self, classes: Tensor) -> Tensor:
        """The differences (...) of lengths that belong to indices `classes` (...) in the logits."""
        return classes - self.reach
