"""Choice of tokens by logits, and log probabilities of tokens."""

from torch import Tensor


class Choices:
    """Choices of tokens by logits, computed by PyTorch's operators, for models in floating point."""

    def first(self, logits: Tensor) -> Tensor:
        """The ids (...) with the largest logits (..., V); the first one on ties."""
        return logits.argmax(-1)

    def log_probabilities(self, logits: Tensor, ids: Tensor) -> Tensor:
        """Natural log probabilities (...) of `ids` (...) from logits (..., V)."""
        logits = logits.float()
        return logits.gather(-1, ids[..., None])[..., 0] - logits.logsumexp(-1)
