"""Choice of tokens by their logits, log probabilities of tokens, and tokens that are never output."""

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
