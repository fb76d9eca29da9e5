"""Int8 linear layers, fused with the layer norm before and the activation after them."""

import ctypes

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.kernels.build import Kernels
from specdec_cli.kernels.structs import ACTIVATIONS as NUMBERS
from specdec_cli.kernels.structs import LANES, TILE, LinearStruct
from specdec_cli.model.int8.arithmetic import ACTIVATIONS, Floats, fused, multiply, normalize, to_bytes


class Int8Linear(nn.Module):
    """The layer activation(norm(x) W + b) with W in int8, a scale per output, and norm(x) quantized to 255 steps
    between the row's extremes.

    The product is exact in integers, so results are batch-invariant. The compiled `kernels`, if given, and numpy
    give bit-identical results. With kernels, `address` is the pointer of the C structure that describes the layer.
    """

    def __init__(self, linear: nn.Linear, kernels: Kernels | None, norm: nn.Module | None = None, activation: str = "none") -> None:
        super().__init__()
        self.norm = norm if isinstance(norm, nn.LayerNorm) else None
        self.activation = activation
        self.outputs, self.inputs = linear.weight.shape
        self.kernels = kernels if self.inputs % LANES == 0 else None
        weight = linear.weight.detach().float()
        scales = (weight.abs().amax(1) / 127).clamp_min(1e-12)
        integers = (weight / scales[:, None]).round_().to(torch.int8)
        bias = torch.zeros_like(scales) if linear.bias is None else linear.bias.detach()
        sums = integers.sum(1, dtype=torch.int32)
        if self.kernels is None:
            # Integer products are exact in float32 too, and faster on a processor without int8 dot products.
            self._weights, self._sums, self._scales, self._bias = integers.t().float().contiguous(), sums, scales, bias
        else:
            self._describe(integers, scales, sums.float(), bias)

    def _describe(self, integers: Tensor, scales: Tensor, sums: Tensor, bias: Tensor) -> None:
        missing = -self.outputs % TILE
        # Four bytes of a row stay together; moving them as one int32 is three times as fast.
        tiles = F.pad(integers, (0, 0, 0, missing)).view(torch.int32).view(-1, TILE, self.inputs // 4)
        self._tensors = [tiles.transpose(1, 2).contiguous(), *(F.pad(values, (0, missing)) for values in (scales, sums, bias))]
        if self.norm is not None:
            self._tensors += [self.norm.weight.detach(), self.norm.bias.detach()]
        pointers = [tensor.data_ptr() for tensor in self._tensors] + [None] * (6 - len(self._tensors))
        epsilon = self.norm.eps if self.norm is not None else 0.0
        self._struct = LinearStruct(self.inputs, self.outputs, *pointers, epsilon, NUMBERS[self.activation])
        self.address = ctypes.addressof(self._struct)

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` (..., inputs) to (..., outputs)."""
        if self.kernels is None:
            return self._forward_by_numpy(x)
        x = x.contiguous()
        rows = x.numel() // self.inputs
        output = x.new_empty(*x.shape[:-1], self.outputs)
        scratch = self.kernels.scratch(rows * (self.inputs + 8))
        threads = self.kernels.threads(rows * self.inputs * self.outputs)
        self.kernels.linear(self.address, x.data_ptr(), rows, output.data_ptr(), scratch, threads)
        return output

    def _forward_by_numpy(self, x: Tensor) -> Tensor:
        integers, low, step = to_bytes(normed(self.norm, x.numpy()))
        sums, scales, bias = (values.numpy() for values in (self._sums.float(), self._scales, self._bias))
        product = fused(multiply(integers, self._weights, self._sums), step, low * sums)
        return torch.from_numpy(ACTIVATIONS[self.activation](fused(product, scales, bias)))


def normed(norm: nn.Module | None, x: Floats) -> Floats:
    """Layer norm of `x` (..., W) if `norm` is a LayerNorm, else `x`."""
    if not isinstance(norm, nn.LayerNorm):
        return x
    return normalize(x, norm.weight.detach().numpy(), norm.bias.detach().numpy(), norm.eps)
