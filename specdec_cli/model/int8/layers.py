"""Encoder and decoder layers of int8 models."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import LayerCache
from specdec_cli.model.int8.arithmetic import attend
from specdec_cli.model.int8.linear import Int8Linear, normed
from specdec_cli.model.layers import DecoderLayer, EncoderLayer, Sublayer
from specdec_cli.model.storage import Uninitialized


class Int8Layer(nn.Module):
    """The int8 version of an encoder or decoder layer: self-attention, in a decoder cross-attention, and
    feed-forward.
    """

    def __init__(self, layer: EncoderLayer | DecoderLayer) -> None:
        super().__init__()
        self.heads, self.width = layer.attention.heads, layer.attention.head_width
        self.query_key_value = _entering(layer.attention.query_key_value, layer.attention_residual)
        self.output = Int8Linear(layer.attention.output)
        self.after_attention = _after(layer.attention_residual)
        self.query = self.cross_output = None
        self.after_cross_attention: nn.Module = nn.Identity()
        if isinstance(layer, DecoderLayer):
            self.query = _entering(layer.cross_attention.query, layer.cross_attention_residual)
            self.cross_output = Int8Linear(layer.cross_attention.output)
            self.after_cross_attention = _after(layer.cross_attention_residual)
        feed_forward = layer.feed_forward
        self.inner = _entering(feed_forward.inner, feed_forward.residual, feed_forward.activation_name)
        self.outer = Int8Linear(feed_forward.outer)
        self.after_feed_forward = _after(feed_forward.residual)

    def forward(
        self, x: Tensor, mask: PrefixMask, memory: Tensor | None, memory_mask: PrefixMask | None, store: LayerCache | None
    ) -> Tensor:
        """States (B, Q, W) of the next layer from `x` (B, Q, W).

        With a `store`, the keys and values of `x` are written to it and self-attention is over the store; without,
        over `x`. With the source's keys and values `memory` (B, M, 2, H, D), cross-attention follows; an encoder has
        none.
        """
        fused = self.query_key_value(x).unflatten(-1, (3, self.heads, self.width))
        keys_values = fused[:, :, 1:] if store is None else store.write(fused[:, :, 1:])
        x = _normed(self.after_attention, x + self.output(_attend(fused[:, :, 0], keys_values, mask)))
        if memory is not None and memory_mask is not None:
            assert self.query is not None and self.cross_output is not None
            queries = self.query(x).unflatten(-1, (self.heads, self.width))
            x = _normed(self.after_cross_attention, x + self.cross_output(_attend(queries, memory, memory_mask)))
        return _normed(self.after_feed_forward, x + self.outer(self.inner(x)))


class Int8Layers(nn.Module):
    """The int8 version of the layers of an encoder or a decoder and of the final `norm`."""

    def __init__(self, layers: nn.ModuleList, norm: nn.Module) -> None:
        super().__init__()
        own = [Int8Layer(cast(EncoderLayer | DecoderLayer, layer)) for layer in layers]
        self.layers, self.norm = nn.ModuleList(own), norm
        self.key_value = _join([layer.cross_attention.key_value for layer in layers if isinstance(layer, DecoderLayer)])

    def project_memory(self, states: Tensor) -> list[Tensor]:
        """For each layer, the keys and values (B, M, 2, H, D) of the encoder's states (B, M, W), computed with one
        matrix product.
        """
        assert self.key_value is not None
        first = cast(Int8Layer, self.layers[0])
        return list(self.key_value(states).unflatten(-1, (len(self.layers), 2, first.heads, first.width)).unbind(2))

    def forward(
        self,
        x: Tensor,
        mask: PrefixMask,
        memory: Sequence[Tensor] = (),
        memory_mask: PrefixMask | None = None,
        stores: Sequence[LayerCache | None] | None = None,
        between: Tensor | None = None,
    ) -> Tensor:
        """States (B, Q, W) after the last layer and the final norm, from `x` (B, Q, W), which may be overwritten.

        `stores` has a cache for each layer, to which the keys and values of its input are written; without one a
        layer attends to its input only. `mask` is for self-attention. `memory` has the source's keys and values for
        each decoder layer, and `memory_mask` hides the source's padding; an encoder has neither. `between` (B, Q,
        W), if given, is added to the input of every layer but the first.
        """
        for i, layer in enumerate(self.layers):
            x = x if between is None or i == 0 else x + between
            x = layer(x, mask, memory[i] if memory else None, memory_mask, stores[i] if stores else None)
        return _normed(self.norm, x)


def _normed(norm: nn.Module, x: Tensor) -> Tensor:
    return torch.from_numpy(normed(norm, x.numpy()))


def _attend(queries: Tensor, keys_values: Tensor, mask: PrefixMask) -> Tensor:
    return torch.from_numpy(attend(queries.numpy(), keys_values.numpy(), mask.ends.numpy()))


def _entering(linear: nn.Linear, residual: Sublayer, activation: str = "none") -> Int8Linear:
    return Int8Linear(linear, residual.norm if residual.pre else None, activation)


def _after(residual: Sublayer) -> nn.Module:
    return nn.Identity() if residual.pre else residual.norm


def _join(linears: Sequence[nn.Linear]) -> Int8Linear | None:
    """One linear layer that computes several with the same input."""
    if not linears:
        return None
    with Uninitialized():
        joined = nn.Linear(linears[0].in_features, sum(linear.out_features for linear in linears))
    joined.weight.data = torch.cat([linear.weight.data for linear in linears])
    joined.bias.data = torch.cat([linear.bias.data for linear in linears])
    return Int8Linear(joined)
