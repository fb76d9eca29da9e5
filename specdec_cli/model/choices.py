"""Which token is the best by logits, and how probable tokens are."""

from torch import Tensor


class Choices:
    """By operators of torch, for models in floating point."""

    def first(self, logits: Tensor) -> Tensor:
        """The best id (...) by logits (..., V), the first of equal ones."""
        return logits.argmax(-1)

    def log_probabilities(self, logits: Tensor, ids: Tensor) -> Tensor:
        """Natural log probabilities (...) of `ids` (...) by logits (..., V)."""
        logits = logits.float()
        return logits.gather(-1, ids[..., None])[..., 0] - logits.logsumexp(-1)
