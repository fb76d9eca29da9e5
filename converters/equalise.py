"""Equal ranges of the units between two matrices, so that int8 rounds them alike.

A unit of an inner layer, or of the values of attention, may be multiplied by a factor if the weights that read it are divided by it (Nagel
et al. 2019, Section 4.1). Training leaves this factor open, so that some units can be far larger than others, and a range for a whole row
of units leaves few steps for the rest.
"""

import torch
from torch import Tensor, nn

from specdec_cli.model.attention import Attention
from specdec_cli.model.layers import FeedForward
from specdec_cli.model.storage import LazyMatrix, Parts
from specdec_cli.model.transformer import Transformer

MOST = 16
"""The largest exponent of a factor: larger ones could make numbers too small for float32."""


@torch.no_grad()
def equalise(model: Transformer, parts: Parts) -> int:
    """Give the units of `model` powers of two as factors, so that the ratio of what writes a unit to what reads it is about the median of
    its layer; return the number of units that changed.

    The function stays the same: products and sums of float32 have the same bits but for the exponent, as long as no number is near the
    smallest of float32. Matrices get their factors in `parts`, and so when they are joined or written; biases get them in place. Units
    behind an activation that does not commute with a factor, which is all but ReLU, are left as they are.
    """
    count = 0
    for name, module in model.named_modules():
        if isinstance(module, FeedForward) and (module.gated or module.activation_name == "relu"):
            count += _balance(model, parts, f"{name}.inner", f"{name}.outer")
        elif isinstance(module, Attention):
            values = "query_key_value" if hasattr(module, "query_key_value") else "key_value"
            count += _balance(model, parts, f"{name}.{values}", f"{name}.output")
    return count


def _balance(model: Transformer, parts: Parts, writer: str, reader: str) -> int:
    """Equalise the last outputs of the product `writer`, which the product `reader` reads; return the number of changed units."""
    writing, reading = (_matrix_of(model, parts, name) for name in (writer, reader))
    read = reading.parts[0].float()
    written = writing.parts[-1][-read.shape[1] :].float()
    exponents = _exponents(written.norm(dim=1), read.norm(dim=0))
    if not bool(exponents.any()):
        return 0
    others = sum(map(len, writing.parts)) - len(exponents)
    writing.rows = torch.cat([torch.ones(others), exponents.exp2()])
    reading.columns = (-exponents).exp2()
    parts[f"{writer}.weight"], parts[f"{reader}.weight"] = writing, reading
    linear = model.get_submodule(writer)
    if isinstance(linear.bias, Tensor):
        linear.bias = nn.Parameter(linear.bias * writing.rows)
    return int(exponents.count_nonzero())


def _matrix_of(model: Transformer, parts: Parts, product: str) -> LazyMatrix:
    """What the matrix of a product is made of."""
    name = f"{product}.weight"
    return parts.get(name) or LazyMatrix([model.get_parameter(name)])


def _exponents(written: Tensor, read: Tensor) -> Tensor:
    """The exponents (U,) of the factors of units, from the sizes (U,) of the weights that write and read each; 0 for one without any."""
    ratios = (read / written).log2()
    used = ratios.isfinite()
    if not bool(used.any()):
        return torch.zeros_like(ratios)
    halves = (ratios - ratios[used].median()) / 2
    return halves.where(used, torch.zeros(())).round().clamp(-MOST, MOST)
