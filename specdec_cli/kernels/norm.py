"""Layer normalisation (Ba et al. 2016): y = (x - mean) / sqrt(variance + epsilon) * gain + shift."""

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

from specdec_cli.kernels.tiles import power_of_two


@triton.jit
def normalised(x, mask, gain, shift, columns, epsilon, WIDTH: tl.constexpr):
    """A row `x` of float32 numbers, of which `mask` shows WIDTH, normalised."""
    mean = tl.sum(tl.where(mask, x, 0.0), 0) / WIDTH
    centred = tl.where(mask, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / WIDTH + epsilon)
    gains = tl.load(gain + columns, mask=mask, other=0.0).to(tl.float32)
    return centred * scale * gains + tl.load(shift + columns, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def _norm(x, gain, shift, output, epsilon, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Each program normalises one row."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < WIDTH
    numbers = tl.load(x + row * WIDTH + columns, mask=mask, other=0.0).to(tl.float32)
    result = normalised(numbers, mask, gain, shift, columns, epsilon, WIDTH)
    tl.store(output + row * WIDTH + columns, result.to(output.dtype.element_ty), mask=mask)


def norm(x: Tensor, layer: nn.LayerNorm) -> Tensor:
    """Normalised rows (..., W) of contiguous `x` (..., W), as `layer` normalises them."""
    output, width = torch.empty_like(x), x.shape[-1]
    _norm[(x.numel() // width,)](x, layer.weight, layer.bias, output, layer.eps, WIDTH=width, BLOCK=power_of_two(width))
    return output
