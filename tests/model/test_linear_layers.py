"""Linear layers of any number of rows, their operations, and dropout by random bytes."""

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F

from specdec_cli.model.bundle import Bundle
from specdec_cli.model.flops import counting
from specdec_cli.model.layers import Dropout
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


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5])
def test_the_dropped_share_and_the_scale_follow_the_rate(rate: float) -> None:
    torch.manual_seed(0)
    dropped = Dropout(rate)(torch.ones(100_003))
    share = round(rate * 256) / 256
    assert float((dropped == 0).float().mean()) == pytest.approx(share, abs=0.01)
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / (1 - share)])


def test_neighbouring_elements_are_dropped_independently() -> None:
    torch.manual_seed(0)
    zero = (Dropout(0.5)(torch.ones(80_000)) == 0).float().view(-1, 8)
    assert torch.allclose(zero.T.corrcoef(), torch.eye(8), atol=0.05)


def test_gradients_are_zero_where_values_are_dropped() -> None:
    x = torch.ones(64, 3, requires_grad=True)
    dropped = Dropout(0.5)(x)
    dropped.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, dropped.detach())


def test_nothing_is_dropped_in_evaluation_or_at_rate_0() -> None:
    x = torch.randn(50)
    assert Dropout(0.9).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_equal_seeds_drop_equal_elements() -> None:
    dropout, found = Dropout(0.3), []
    for _ in range(2):
        torch.manual_seed(5)
        found.append(dropout(torch.ones(7, 11)))
    assert torch.equal(*found)


SOURCE, TARGET = 12, 8


def ids(length: int) -> torch.Tensor:
    return torch.arange(5, 5 + length)[None]


def test_all_products_of_a_pass_and_of_an_update_are_counted(make_bundle: Callable[..., Bundle]) -> None:
    model = make_bundle(width=48, heads=3, encoder_layers=3, decoder_layers=1, output_bias=True).verifier
    width, config = 48, model.config
    with torch.no_grad(), counting() as one_pass:
        model(ids(SOURCE), ids(TARGET))
    with counting() as update:
        model(ids(SOURCE), ids(TARGET)).sum().backward()
    feed_forward = 4 * width * config.feed_forward
    encoder = SOURCE * (8 * width**2 + feed_forward + 4 * width * SOURCE)
    memory = SOURCE * 4 * width**2
    decoder = TARGET * (12 * width**2 + feed_forward + 4 * width * (TARGET + SOURCE))
    assert one_pass.get_total_flops() == 3 * encoder + memory + decoder + TARGET * 2 * width * config.vocabulary_size
    assert update.get_total_flops() == 3 * one_pass.get_total_flops()
