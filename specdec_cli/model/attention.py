"""Multi-head attention over keys and values that may come from a cache."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def additive_mask(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """A tensor of type `dtype` with 0 where the boolean `visible` is true, and the lowest finite number elsewhere.

    With -inf instead, the attention of a query without visible keys would be NaN.
    """
    return torch.zeros(visible.shape, dtype=dtype, device=visible.device).masked_fill_(~visible, torch.finfo(dtype).min)


def step_mask(length: int, step: int, device: torch.device) -> Tensor:
    """A boolean mask (length, length), true where the query position (row) sees the key position (column).

    A position sees those of its own step and of earlier ones, of `step` positions each: the triangular mask of
    training (Imamura and Sumita 2020, Figure 1: (a) for a step of 1, (b) for a step of 2).
    """
    steps = torch.arange(length, device=device) // step
    return steps[:, None] >= steps


@dataclass
class PrefixMask:
    """A mask by which query q of row b sees the first `ends`[b, q] of `keys` keys; `ends` is (B, 1) if all queries
    of a row see the same.

    `dtype` is the type of the additive mask.
    """

    ends: Tensor
    keys: int
    dtype: torch.dtype

    @cached_property
    def additive(self) -> Tensor:
        """The mask (B, 1, Q, S) as numbers that are added to attention scores: 0 where a key is visible, else the
        lowest finite number.
        """
        return additive_mask(torch.arange(self.keys, device=self.ends.device) < self.ends[..., None], self.dtype)[:, None]


Mask = Tensor | PrefixMask


def mix(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Scaled dot-product attention (B, H, Q, D) of queries (B, H, Q, D) over keys and values (B, H, S, D), with an
    additive mask (B, 1, Q, S).
    """
    if queries.requires_grad and queries.device.type == "cpu":
        # The backward pass of the fused kernel is slow on a CPU: it makes a training step a third longer.
        scores = queries * queries.shape[-1] ** -0.5 @ keys.transpose(-1, -2) + mask
        mixed: Tensor = scores.softmax(-1).to(values.dtype) @ values
        return mixed
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)


class Attention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, Section 3.2.2).

    With `kind` "self", for self-attention, one matrix product gives queries, keys and values. With `kind` "cross",
    for attention over the encoder's states, one product gives keys and values, once per sentence.
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
        """Keys and values (B, S, 2, H, D) of the encoder's states `memory` (B, S, W); for cross-attention."""
        keys_values: Tensor = self.key_value(memory).unflatten(-1, (2, self.heads, self.head_width))
        return keys_values

    def attend(self, queries: Tensor, keys_values: Tensor, mask: Mask) -> Tensor:
        """Attention, with the output projection, (B, Q, W) of queries (B, Q, H, D) over keys and values (B, S, 2, H,
        D).

        A mask that is a tensor is additive, (B, 1, Q, S).
        """
        mask = mask.additive if isinstance(mask, PrefixMask) else mask
        keys, values = keys_values.transpose(1, 3).unbind(2)
        mixed = mix(queries.transpose(1, 2), keys, values, mask)
        output: Tensor = self.output(mixed.transpose(1, 2).flatten(2))
        return output
