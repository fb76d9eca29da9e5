"""Dropout by random bytes: its rate, its scale, and evaluation mode."""

import pytest
import torch

from specdec_cli.model.layers import Dropout


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
