"""Layer normalisation (Ba et al. 2016): y = (x - mean) / sqrt(variance + epsilon) * gain + shift. RMS norms (Zhang and Sennrich 2019) have
neither the mean nor the shift.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

from specdec_cli.kernels.tiles import power_of_two


@triton.jit
def normalised(x, mask, gain, shift, columns, epsilon, WIDTH: tl.constexpr):
    """A row `x` of float32 numbers, of which `mask` shows WIDTH, normalised; without a `shift` by an RMS norm."""
    if shift is not None:
        x = x - tl.sum(tl.where(mask, x, 0.0), 0) / WIDTH
    centred = tl.where(mask, x, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / WIDTH + epsilon)
    result = centred * scale * tl.load(gain + columns, mask=mask, other=0.0).to(tl.float32)
    if shift is not None:
        result += tl.load(shift + columns, mask=mask, other=0.0).to(tl.float32)
    return result


@triton.jit
def _norm(x, gain, shift, output, epsilon, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Each program normalises one row."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < WIDTH
    numbers = tl.load(x + row * WIDTH + columns, mask=mask, other=0.0).to(tl.float32)
    result = normalised(numbers, mask, gain, shift, columns, epsilon, WIDTH)
    tl.store(output + row * WIDTH + columns, result.to(output.dtype.element_ty), mask=mask)


AnyNorm = nn.LayerNorm | nn.RMSNorm


def norm_arguments(layer: nn.Module | None) -> tuple[Tensor | None, Tensor | None, float]:
    """Gain (W,), shift (W,) and epsilon of a norm: without a shift for an RMS norm, without both for another module or none."""
    if not isinstance(layer, AnyNorm):
        return None, None, 0.0
    assert layer.eps is not None
    return layer.weight, layer.bias if isinstance(layer, nn.LayerNorm) else None, layer.eps


def norm(x: Tensor, layer: AnyNorm) -> Tensor:
    """Normalised rows (..., W) of contiguous `x` (..., W), as `layer` normalises them."""
    output, width = torch.empty_like(x), x.shape[-1]
    gain, shift, epsilon = norm_arguments(layer)
    _norm[(x.numel() // width,)](x, gain, shift, output, epsilon, WIDTH=width, BLOCK=power_of_two(width))
    return output
