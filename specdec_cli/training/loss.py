"""Cross-entropy fused with the output projection, computed in slices: on a CPU of 256 positions, which fit its cache, on a GPU of as
many as its memory allows.
"""

from typing import Any

import torch
from torch import Tensor

from specdec_cli.decoding import graphs

_SLICE = 256  # positions
_LOGITS = 2**28
"""Logits of a slice on a GPU: 1 GiB in float32."""


class _ProjectedCrossEntropy(torch.autograd.Function):
    """Computes loss and gradients of projection and softmax slice by slice, without a tensor of (N, V)."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, weights: Tensor, smoothing: float
    ) -> Tensor:
        size = _SLICE if graphs.can_branch(states.device) else max(_SLICE, _LOGITS // weight.shape[0])
        kind = torch.get_autocast_dtype(states.device.type) if torch.is_autocast_enabled(states.device.type) else states.dtype
        projection, vocabulary = weight.to(kind), weight.shape[0]
        states_gradient = torch.empty_like(states, dtype=kind)
        weight_gradient = torch.zeros_like(weight, dtype=torch.float32) if ctx.needs_input_grad[1] else None
        bias_gradient = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        total = states.new_zeros((), dtype=torch.float32)
        with torch.autocast(states.device.type, enabled=False):
            for start in range(0, states.shape[0], size):
                part = slice(start, start + size)
                x, goal, scale = states[part].to(kind), targets[part, None], weights[part]
                logits = (x @ projection.T).float()
                if bias is not None:
                    logits += bias
                normaliser = logits.logsumexp(1)
                likely = logits.gather(1, goal)[:, 0]
                loss = normaliser - (1 - smoothing) * likely - smoothing * logits.mean(1)
                total += (loss * scale).sum()
                gradient = logits.sub_(normaliser[:, None]).exp_().sub_(smoothing / vocabulary)
                gradient.scatter_add_(1, goal, torch.full_like(goal, smoothing - 1, dtype=gradient.dtype))
                gradient.mul_(scale[:, None])
                if bias_gradient is not None:
                    bias_gradient += gradient.sum(0)
                gradient = gradient.to(kind)
                states_gradient[part] = gradient @ projection
                if weight_gradient is not None:
                    weight_gradient += gradient.T @ x
        ctx.save_for_backward(states_gradient.to(states.dtype), weight_gradient, bias_gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor | None, ...]:
        states, weight, bias = (None if gradient is None else gradient * outputs[0] for gradient in ctx.saved_tensors)
        return states, weight, bias, None, None, None


def projected_cross_entropy(
    states: Tensor, weight: Tensor, targets: Tensor, weights: Tensor, smoothing: float = 0.0, bias: Tensor | None = None
) -> Tensor:
    """Weighted sum of the label-smoothed cross-entropies (nats) of `states` (N, W) under the projection `weight` (V, W), `bias` (V,).

    `targets` (N,) are ids, `weights` (N,) factors of the positions; a position of weight 0 is skipped. `smoothing` is the
    probability mass spread uniformly over the vocabulary (Szegedy et al. 2016).
    """
    if not graphs.can_branch(states.device):
        whole: Tensor = _ProjectedCrossEntropy.apply(states, weight, bias, targets, weights, smoothing)  # type: ignore[no-untyped-call]
        return whole
    chosen = weights.nonzero()[:, 0]
    # The last slice is filled up, because PyTorch prepares a matrix product for each new shape.
    missing = -chosen.shape[0] % _SLICE
    chosen = torch.cat([chosen, chosen.new_zeros(missing)])
    kept = weights[chosen]
    if missing:
        kept[-missing:] = 0
    loss: Tensor = _ProjectedCrossEntropy.apply(states[chosen], weight, bias, targets[chosen], kept, smoothing)  # type: ignore[no-untyped-call]
    return loss
