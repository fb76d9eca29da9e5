"""Linear layers: results do not depend on the number of rows."""

import pytest
import torch
from torch.nn import functional as F

from specdec_cli.model.linear import SLICE, Linear


@pytest.mark.parametrize("outputs", [24, SLICE, 2 * SLICE + 40])
@pytest.mark.parametrize("bias", [True, False])
def test_a_row_has_the_same_outputs_among_any_number_of_rows(outputs: int, bias: bool) -> None:
    torch.manual_seed(1)
    layer, x = Linear(64, outputs, bias=bias), torch.randn(32, 64)
    whole = F.linear(x, layer.weight, layer.bias)
    with torch.inference_mode():
        for rows in (1, 2, 3, 4, 5, 7, 8, 30, 32):
            assert torch.equal(layer(x[:rows]), whole[:rows]), rows
        assert torch.equal(layer(x[:6].view(2, 3, 64)), whole[:6].view(2, 3, -1))


def test_no_rows_have_no_outputs() -> None:
    with torch.inference_mode():
        assert Linear(4, 3)(torch.zeros(2, 0, 4)).shape == (2, 0, 3)


def test_gradients_reach_the_weights() -> None:
    layer = Linear(4, 3)
    layer(torch.ones(1, 4)).sum().backward()
    assert layer.weight.grad is not None and bool((layer.weight.grad == 1).all())
