"""The linear layer of models in floating point, whose results on a CPU do not depend on the number of rows."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ROW_MULTIPLE = 4
"""In floating point, the number of rows of a product is a multiple of this, because products of fewer rows are rounded differently."""
SLICE = 512
"""Outputs that each thread computes at a time in float32: the weights that MKL packs for them stay in the cache. The sums are the same."""


class Linear(nn.Linear):
    """A linear layer that computes a multiple of ROW_MULTIPLE rows on a CPU, outside of training; the rows that it adds are zeros."""

    def forward(self, x: Tensor) -> Tensor:
        """The outputs (..., N) of inputs (..., M)."""
        if x.device.type != "cpu" or torch.is_grad_enabled():
            return super().forward(x)
        rows = x.shape[:-1].numel()
        padded = F.pad(x.reshape(rows, self.in_features), (0, 0, 0, -rows % ROW_MULTIPLE))
        return self._product(padded)[:rows].view(*x.shape[:-1], self.out_features)

    def _product(self, x: Tensor) -> Tensor:
        """The outputs (R, N) of R rows `x` (R, M)."""
        size = SLICE * torch.get_num_threads()
        if self.out_features <= size or x.dtype != torch.float32:
            return super().forward(x)
        weights = torch.split(self.weight, size)
        biases = [None] * len(weights) if self.bias is None else torch.split(self.bias, size)
        return torch.cat([F.linear(x, weight, bias) for weight, bias in zip(weights, biases, strict=True)], dim=1)
