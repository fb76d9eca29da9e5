"""The projected cross-entropy equals PyTorch's, in value and gradients."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from specdec_cli.training.loss import projected_cross_entropy

WORDS, WIDTH = 37, 16


def reference(states: Tensor, weight: Tensor, targets: Tensor, weights: Tensor, smoothing: float) -> Tensor:
    losses = F.cross_entropy(states @ weight.T, targets, reduction="none", label_smoothing=smoothing)
    return (losses * weights).sum()


def example(count: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """States, projection, targets and weights; a third of the positions are padding of weight 0."""
    generator = torch.Generator().manual_seed(seed)
    states, weight = torch.randn(count, WIDTH, generator=generator), torch.randn(WORDS, WIDTH, generator=generator)
    targets = torch.randint(0, WORDS, (count,), generator=generator)
    weights = torch.rand(count, generator=generator) * (torch.rand(count, generator=generator) < 0.67)
    return states, weight, targets, weights


def gradients(function: Any, *inputs: Tensor, **options: Any) -> tuple[Tensor, ...]:
    """The value, and the gradients of three times the value by the first two inputs."""
    leaves = [value.clone().requires_grad_() for value in inputs[:2]]
    value: Tensor = function(*leaves, *inputs[2:], **options)
    (3 * value).backward()  # type: ignore[no-untyped-call]
    return value.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("count", [1, 50, 256, 600])
def test_value_and_gradients_equal_those_of_torch(count: int, smoothing: float) -> None:
    inputs = example(count)
    inputs[3][0] = 0.5
    found = gradients(projected_cross_entropy, *inputs, smoothing=smoothing)
    expected = gradients(reference, *inputs, smoothing=smoothing)
    assert len(found) == 3
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def test_a_tied_projection_gets_both_gradients() -> None:
    _, weight, targets, weights = example(70)
    ids = torch.arange(70) % WORDS

    def tied(projected: Any, weight: Tensor) -> Tensor:
        loss: Tensor = projected(F.embedding(ids, weight).tanh(), weight, targets, weights, 0.1)
        return loss

    grads = []
    for function in (projected_cross_entropy, reference):
        leaf = weight.clone().requires_grad_()
        tied(function, leaf).backward()  # type: ignore[no-untyped-call]
        grads.append(leaf.grad)
    assert torch.allclose(grads[0], grads[1], rtol=1e-4, atol=1e-4)  # type: ignore[arg-type]


def test_positions_of_weight_0_have_no_effect() -> None:
    states, weight, targets, weights = example(40)
    states[weights == 0] = 1e4
    value, by_states, _ = gradients(projected_cross_entropy, states, weight, targets, weights)
    assert float(value) < 1e3
    assert not by_states[weights == 0].any()
    assert bool(by_states[weights > 0].any(1).all())


def test_an_empty_batch_has_zero_loss() -> None:
    states, weight, targets, weights = example(10)
    value, by_states, by_weight = gradients(projected_cross_entropy, states, weight, targets, weights * 0)
    assert float(value) == 0
    assert not by_states.any()
    assert not by_weight.any()


def test_an_output_bias_is_used_and_has_gradients() -> None:
    states, weight, targets, weights = example(70)
    ours, theirs = (torch.linspace(-1, 1, WORDS).requires_grad_() for _ in range(2))
    found = projected_cross_entropy(states, weight, targets, weights, 0.1, ours)
    losses = F.cross_entropy(states @ weight.T + theirs, targets, reduction="none", label_smoothing=0.1)
    found.backward()  # type: ignore[no-untyped-call]
    (losses * weights).sum().backward()  # type: ignore[no-untyped-call]
    assert torch.allclose(found, (losses * weights).sum())
    assert ours.grad is not None
    assert theirs.grad is not None
    assert torch.allclose(ours.grad, theirs.grad, atol=1e-4)
