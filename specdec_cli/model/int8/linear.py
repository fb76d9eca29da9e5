"""A linear layer in bytes, with the layer norm before it and the activation after it."""

import ctypes

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.kernels.build import load_kernels
from specdec_cli.kernels.structs import ACTIVATIONS as NUMBERS
from specdec_cli.kernels.structs import LANES, TILE, LinearStruct
from specdec_cli.model.transformer import ACTIVATIONS


class Int8Linear(nn.Module):
    """activation(norm(x) W + b), W as bytes to a scale per output, norm(x) to a range per row.

    The product is one of integers, so a row's result does not depend on the rows beside it. With the compiled kernels
    it is one call, else some operators and `torch._int_mm` (whose bytes are signed, so that a row has half the steps).
    `address` is that of its description for the kernels.
    """

    def __init__(self, linear: nn.Linear, norm: nn.Module | None = None, activation: str = "none") -> None:
        super().__init__()
        self.norm = norm if isinstance(norm, nn.LayerNorm) else None
        self.activation = activation
        self.bias: Tensor | None = linear.bias
        self.weight: Tensor | None = None
        self.outputs, self.inputs = linear.weight.shape
        self.kernels = load_kernels() if self.inputs % LANES == 0 and linear.weight.device.type == "cpu" else None
        weight = linear.weight.detach().float()
        scales = (weight.abs().amax(1) / 127).clamp_min(1e-12)
        integers = (weight / scales[:, None]).round_().to(torch.int8)
        offset = torch.zeros_like(scales) if linear.bias is None else linear.bias.detach()
        if self.kernels is None:
            self._integers, self._scales, self._offset = integers.t().contiguous(), scales, offset
        else:
            self._describe(integers, scales, offset)

    def _describe(self, integers: Tensor, scales: Tensor, offset: Tensor) -> None:
        missing = -self.outputs % TILE
        # Four bytes of a row stay together; moved as one number they move three times as fast.
        tiles = F.pad(integers, (0, 0, 0, missing)).view(torch.int32).view(-1, TILE, self.inputs // 4)
        sums = integers.sum(1, dtype=torch.float32)
        self._tensors = [tiles.transpose(1, 2).contiguous(), *(F.pad(values, (0, missing)) for values in (scales, sums, offset))]
        if self.norm is not None:
            self._tensors += [self.norm.weight.detach(), self.norm.bias.detach()]
        pointers = [tensor.data_ptr() for tensor in self._tensors] + [None] * (6 - len(self._tensors))
        epsilon = self.norm.eps if self.norm is not None else 0.0
        self._struct = LinearStruct(self.inputs, self.outputs, *pointers, epsilon, NUMBERS[self.activation])
        self.address = ctypes.addressof(self._struct)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) to (..., outputs)."""
        if self.kernels is None:
            return self._forward_by_operators(x)
        x = x.contiguous()
        rows = x.numel() // self.inputs
        output = x.new_empty(*x.shape[:-1], self.outputs)
        scratch = self.kernels.scratch(rows * (self.inputs + 8))
        threads = self.kernels.threads(rows * self.inputs * self.outputs)
        self.kernels.linear(self.address, x.data_ptr(), rows, output.data_ptr(), scratch, threads)
        return output

    def _forward_by_operators(self, x: Tensor) -> Tensor:
        if self.norm is not None:
            x = self.norm(x)
        rows = x.flatten(0, -2)
        scale = rows.abs().amax(-1, keepdim=True).clamp_min_(1e-12)
        integers = rows.div(scale).mul_(127.0).round_().to(torch.int8)
        product = torch.addcmul(self._offset, torch._int_mm(integers, self._integers) * (self._scales / 127), scale)
        if self.activation != "none":
            product = ACTIVATIONS[self.activation](product)
        output: Tensor = product.view(*x.shape[:-1], self.outputs)
        return output
