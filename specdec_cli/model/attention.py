"""Multi-head attention over keys and values that may come from a cache."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def additive_mask(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where `visible`, the lowest finite number elsewhere (-inf would give NaN in a row without visible keys)."""
    return torch.zeros(visible.shape, dtype=dtype, device=visible.device).masked_fill_(~visible, torch.finfo(dtype).min)


def step_mask(length: int, step: int, device: torch.device) -> Tensor:
    """Which positions are visible from which (length, length): those of the same step and of earlier ones, `step` positions each.

    The triangular mask of training (Imamura and Sumita, Figure 1: (a) for a step of 1, (b) for a step of 2).
    """
    steps = torch.arange(length, device=device) // step
    return steps[:, None] >= steps


@dataclass
class PrefixMask:
    """Each query sees the first `ends` (B, Q) of `keys` keys; (B, 1) if all queries of a row see the same keys."""

    ends: Tensor
    keys: int
    dtype: torch.dtype

    @cached_property
    def additive(self) -> Tensor:
        """The mask as numbers (B, 1, Q, S) that are added to scores."""
        return additive_mask(torch.arange(self.keys, device=self.ends.device) < self.ends[..., None], self.dtype)[:, None]


Mask = Tensor | PrefixMask


def mix(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Scaled dot-product attention of (B, H, Q, D) over (B, H, S, D) under an additive mask (B, 1, Q, S)."""
    if queries.requires_grad and queries.device.type == "cpu":
        # The backward pass of the fused kernel is slow on a CPU: it makes a training step a third longer.
        scores = queries * queries.shape[-1] ** -0.5 @ keys.transpose(-1, -2) + mask
        mixed: Tensor = scores.softmax(-1).to(values.dtype) @ values
        return mixed
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)


class Attention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, Section 3.2.2).

    For self-attention (`kind` "self") one product gives queries, keys and values. For attention over a memory ("cross") one
    product gives keys and values, once per sentence.
    """

    def __init__(self, width: int, heads: int, kind: str) -> None:
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        if kind == "self":
            self.query_key_value = nn.Linear(width, 3 * width)
        else:
            self.query = nn.Linear(width, width)
            self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Queries (B, Q, H, D) and keys and values (B, Q, 2, H, D) of `x` (B, Q, W); for self-attention."""
        fused = self.query_key_value(x).unflatten(-1, (3, self.heads, self.head_width))
        return fused[:, :, 0], fused[:, :, 1:]

    def project_queries(self, x: Tensor) -> Tensor:
        """Queries (B, Q, H, D) of `x` (B, Q, W); for cross-attention."""
        queries: Tensor = self.query(x).unflatten(-1, (self.heads, self.head_width))
        return queries

    def project_memory(self, memory: Tensor) -> Tensor:
        """Keys and values (B, S, 2, H, D) of `memory` (B, S, W); for cross-attention."""
        keys_values: Tensor = self.key_value(memory).unflatten(-1, (2, self.heads, self.head_width))
        return keys_values

    def attend(self, queries: Tensor, keys_values: Tensor, mask: Mask) -> Tensor:
        """Attention (B, Q, W) of queries (B, Q, H, D) over keys and values (B, S, 2, H, D); an additive mask is (B, 1, Q, S)."""
        mask = mask.additive if isinstance(mask, PrefixMask) else mask
        keys, values = keys_values.transpose(1, 3).unbind(2)
        mixed = mix(queries.transpose(1, 2), keys, values, mask)
        output: Tensor = self.output(mixed.transpose(1, 2).flatten(2))
        return output
