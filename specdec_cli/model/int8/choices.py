"""Choosing tokens by the logits of a model in int8."""

import torch
from torch import Tensor

from specdec_cli.kernels.build import LOOKING, Kernels
from specdec_cli.model.choices import Choices
from specdec_cli.model.int8.arithmetic import log_probabilities


class Int8Choices(Choices):
    """By the compiled kernels, if given, else by numpy with the same bits."""

    def __init__(self, kernels: Kernels | None) -> None:
        self.kernels = kernels

    def first(self, logits: Tensor) -> Tensor:
        """The best id (...) by logits (..., V), the first of equal ones."""
        if self.kernels is None:
            return super().first(logits)
        logits = logits.contiguous()  # torch's argmax takes five times as long as this
        ids = torch.empty(logits.shape[:-1], dtype=torch.int64)
        threads = self.kernels.threads(LOOKING * logits.numel())
        self.kernels.largest(logits.data_ptr(), ids.numel(), logits.shape[-1], ids.data_ptr(), threads)
        return ids

    def log_probabilities(self, logits: Tensor, ids: Tensor) -> Tensor:
        """Natural log probabilities (...) of `ids` (...) by logits (..., V)."""
        if self.kernels is None:
            return torch.from_numpy(log_probabilities(logits.numpy(), ids.numpy()))
        logits, ids = logits.contiguous(), ids.contiguous()
        found = logits.new_empty(ids.shape)
        threads = self.kernels.threads(LOOKING * logits.numel())
        self.kernels.log_probabilities(logits.data_ptr(), ids.numel(), logits.shape[-1], ids.data_ptr(), found.data_ptr(), threads)
        return found
