"""Choice of tokens by their logits, and log probabilities of tokens."""

import torch
from torch import Tensor

from specdec_cli.model.suppression import suppressed, without_suppression


class Choices:
    """Chooses tokens by logits with PyTorch's operators, for models in floating point."""

    def first(self, logits: Tensor) -> Tensor:
        """The ids (...) of the largest logits (..., V); of equal logits, the first."""
        return logits.argmax(-1)

    def log_probabilities(self, logits: Tensor, ids: Tensor) -> Tensor:
        """Natural log probabilities (...) of `ids` (...) from logits (..., V)."""
        logits = logits.float()
        return logits.gather(-1, ids[..., None])[..., 0] - logits.logsumexp(-1)

    def log_softmax(self, logits: Tensor) -> Tensor:
        """Natural log probabilities (..., V) of all tokens from logits (..., V).

        Suppressed tokens have minus infinity; the others are normalised as if none were suppressed.
        """
        return without_suppression(logits).log_softmax(-1).masked_fill(suppressed(logits), -torch.inf)
