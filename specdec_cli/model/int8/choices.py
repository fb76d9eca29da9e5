"""Choice of tokens by the logits of an int8 model."""

import torch
from torch import Tensor

from specdec_cli.model.choices import Choices, suppressed, without_suppression
from specdec_cli.model.int8.arithmetic import log_probabilities


class Int8Choices(Choices):
    """Chooses tokens by logits; log probabilities have the bits of the native engine."""

    def log_probabilities(self, logits: Tensor, ids: Tensor) -> Tensor:
        return torch.from_numpy(log_probabilities(logits.numpy(), ids.numpy()))

    def log_softmax(self, logits: Tensor) -> Tensor:
        released = without_suppression(logits)
        first = self.first(released)[..., None]
        # The log probability of a token with the largest logit is 0 minus the logarithm of the sum.
        largest, total = released.gather(-1, first), -self.log_probabilities(released, first[..., 0])[..., None]
        return (released - largest - total).masked_fill_(suppressed(logits), -torch.inf)
