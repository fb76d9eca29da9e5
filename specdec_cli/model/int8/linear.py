"""Int8 linear layers, fused with the layer norm before and the activation after them."""

import torch
from torch import Tensor, nn

from specdec_cli.model.int8.arithmetic import ACTIVATIONS, Floats, fused, multiply, normalize, to_bytes


class Int8Linear(nn.Module):
    """The layer activation(norm(x) W + b) with W in int8, a scale per output, and norm(x) quantized to 255 steps
    between the row's extremes.

    The product is exact in integers, so results are batch-invariant.
    """

    def __init__(self, linear: nn.Linear, norm: nn.Module | None = None, activation: str = "none") -> None:
        super().__init__()
        self.norm = norm if isinstance(norm, nn.LayerNorm) else None
        self.activation = activation
        self.outputs, self.inputs = linear.weight.shape
        weight = linear.weight.detach().float()
        scales = (weight.abs().amax(1) / 127).clamp_min(1e-12)
        integers = (weight / scales[:, None]).round_().to(torch.int8)
        bias = torch.zeros_like(scales) if linear.bias is None else linear.bias.detach()
        sums = integers.sum(1, dtype=torch.int32)
        # Integer products are exact in float32 too, and faster on a processor without int8 dot products.
        self._weights, self._sums, self._scales, self._bias = integers.t().float().contiguous(), sums, scales, bias

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` (..., inputs) to (..., outputs)."""
        integers, low, step = to_bytes(normed(self.norm, x.numpy()))
        sums, scales, bias = (values.numpy() for values in (self._sums.float(), self._scales, self._bias))
        product = fused(multiply(integers, self._weights, self._sums), step, low * sums)
        return torch.from_numpy(ACTIVATIONS[self.activation](fused(product, scales, bias)))


def normed(norm: nn.Module | None, x: Floats) -> Floats:
    """Layer norm of `x` (..., W) if `norm` is a LayerNorm, else `x`."""
    if not isinstance(norm, nn.LayerNorm):
        return x
    return normalize(x, norm.weight.detach().numpy(), norm.bias.detach().numpy(), norm.eps)
