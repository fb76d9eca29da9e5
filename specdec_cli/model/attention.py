"""Multi-head attention over keys and values that may come from a cache."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.linear import ROW_MULTIPLE, Linear


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
    bias: Tensor | None = None

    @cached_property
    def additive(self) -> Tensor:
        """The mask (B, 1, Q, S), or (B, H, Q, S) with a bias, as numbers that are added to attention scores: 0 or the bias where a key is
        visible, else the lowest finite number.
        """
        visible = (torch.arange(self.keys, device=self.ends.device) < self.ends[..., None])[:, None]
        if self.bias is None:
            return additive_mask(visible, self.dtype)
        return self.bias.masked_fill(~visible, torch.finfo(self.dtype).min)


Mask = Tensor | PrefixMask


def layer_masks(mask: Mask, biases: Tensor | None, layers: int) -> list[Mask]:
    """The mask of each layer: `mask`, with the relative `biases` (T, B, H, Q, S) of T = 1 or `layers` tables, if there are any."""
    if biases is None:
        return [mask] * layers
    masks: list[Mask]
    if isinstance(mask, PrefixMask):
        masks = [replace(mask, bias=bias) for bias in biases]
    else:
        masks = [bias.masked_fill(mask < 0, torch.finfo(mask.dtype).min) for bias in biases]
    return masks if len(masks) == layers else masks * layers


class RelativeBias(nn.Module):
    """Numbers that self-attention adds to its scores, by the distance from query to key (T5: Raffel et al. 2020, Section 2.1).

    `weight` (T * H, D) has a row for each of T tables and H heads, and a column for each distance, from the farthest key behind to the
    farthest one ahead; a decoder has none for keys ahead.
    """

    def __init__(self, tables: int, heads: int, reach: int, *, ahead: bool) -> None:
        super().__init__()
        self.heads, self.reach, self.last = heads, reach, (2 if ahead else 1) * reach
        self.weight = nn.Parameter(torch.zeros(tables * heads, self.last + 1))

    def forward(self, positions: Tensor, keys: Tensor) -> Tensor:
        """The numbers (T, B, H, Q, S) of queries at `positions` (B, Q) or (Q,) and keys at positions `keys` (S,)."""
        columns = (keys - positions[..., None] + self.reach).clamp(0, self.last)
        columns = columns.view(-1, *columns.shape[-2:])
        biases = self.weight[:, columns].view(-1, self.heads, *columns.shape)
        return biases.transpose(1, 2)


def relative_bias(config: TransformerConfig, layers: int, *, ahead: bool) -> RelativeBias | None:
    """The relative positions of a stack of so many layers, in which queries see keys `ahead` of them or not; None if it has none."""
    tables = config.bias_tables(layers)
    return RelativeBias(tables, config.heads, config.reach, ahead=ahead) if tables else None


def mix(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, scale: float | None = None) -> Tensor:
    """Scaled dot-product attention (B, H, Q, D) of queries (B, H, Q, D) over keys and values (B, H, S, D), with an
    additive mask (B, 1, Q, S) or (B, H, Q, S). Scores are multiplied by `scale`; None stands for 1 / sqrt(D).
    """
    if queries.requires_grad and queries.device.type == "cpu":
        # The backward pass of the fused kernel is slow on a CPU: it makes a training step a third longer.
        scores = queries * (queries.shape[-1] ** -0.5 if scale is None else scale) @ keys.transpose(-1, -2) + mask
        mixed: Tensor = scores.softmax(-1).to(values.dtype) @ values
        return mixed
    count = queries.shape[2]
    missing = 0 if queries.device.type != "cpu" else -count % ROW_MULTIPLE  # fewer queries are rounded differently
    if missing:
        queries = F.pad(queries, (0, 0, 0, missing))
        mask = mask if mask.shape[2] == 1 else F.pad(mask, (0, 0, 0, missing))
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=scale)[:, :, :count]


class Attention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, Section 3.2.2).

    With `kind` "self", for self-attention, one matrix product gives queries, keys and values. With `kind` "cross",
    for attention over the encoder's states, one product gives keys and values, once per sentence.
    """

    def __init__(self, config: TransformerConfig, kind: str) -> None:
        super().__init__()
        width, inner, bias = config.width, config.heads_width, config.biases
        self.heads, self.head_width = config.heads, config.head_width
        self.scale = None if config.attention_scale else 1.0
        if kind == "self":
            self.query_key_value = Linear(width, 3 * inner, bias=bias)
        else:
            self.query = Linear(width, inner, bias=bias)
            self.key_value = Linear(width, 2 * inner, bias=bias)
        self.output = Linear(inner, width, bias=bias)

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
        mixed = mix(queries.transpose(1, 2), keys, values, mask, self.scale)
        output: Tensor = self.output(mixed.transpose(1, 2).flatten(2))
        return output
