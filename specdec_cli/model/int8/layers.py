"""Encoder and decoder layers of int8 models: one call of the compiled kernels for all layers, or numpy."""

import ctypes
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from specdec_cli.kernels.build import Kernels
from specdec_cli.kernels.structs import LANES, KeysStruct, LayerStruct, NormStruct, RowsStruct, StackStruct, describe_keys, describe_norm
from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import LayerCache, steps
from specdec_cli.model.int8.arithmetic import attend
from specdec_cli.model.int8.linear import Int8Linear, normed
from specdec_cli.model.layers import DecoderLayer, EncoderLayer, Sublayer
from specdec_cli.model.uninitialized import Uninitialized


class Int8Layer(nn.Module):
    """The int8 version of an encoder or decoder layer: self-attention, in a decoder cross-attention, and
    feed-forward.
    """

    def __init__(self, layer: EncoderLayer | DecoderLayer, kernels: Kernels | None) -> None:
        super().__init__()
        self.heads, self.width = layer.attention.heads, layer.attention.head_width
        self.query_key_value = _entering(layer.attention.query_key_value, kernels, layer.attention_residual)
        self.output = Int8Linear(layer.attention.output, kernels)
        self.after_attention = _after(layer.attention_residual)
        self.query = self.cross_output = None
        self.after_cross_attention: nn.Module = nn.Identity()
        if isinstance(layer, DecoderLayer):
            self.query = _entering(layer.cross_attention.query, kernels, layer.cross_attention_residual)
            self.cross_output = Int8Linear(layer.cross_attention.output, kernels)
            self.after_cross_attention = _after(layer.cross_attention_residual)
        feed_forward = layer.feed_forward
        self.inner = _entering(feed_forward.inner, kernels, feed_forward.residual, feed_forward.activation_name)
        self.outer = Int8Linear(feed_forward.outer, kernels)
        self.after_feed_forward = _after(feed_forward.residual)

    @property
    def fits(self) -> bool:
        """Whether the compiled kernels can compute this layer."""
        return self.width % LANES == 0 and self.inner.kernels is not None and self.outer.kernels is not None

    @property
    def scratch(self) -> int:
        """Scratch memory in bytes per position: activations between the products, and the quantized input of the
        widest product.
        """
        whole, inner = self.heads * self.width, self.inner.outputs
        return 4 * (max(3 * whole, inner) + whole) + max(whole, inner) + 8

    @property
    def work(self) -> int:
        """Number of multiplications per position, without those of attention."""
        parts = (self.query_key_value, self.output, self.query, self.cross_output, self.inner, self.outer)
        return sum(part.inputs * part.outputs for part in parts if part is not None)

    def describe(self) -> LayerStruct:
        """The C structure that describes the layer for the kernels."""
        parts = (self.query_key_value, self.output, self.query, self.cross_output, self.inner, self.outer)
        norms = (self.after_attention, self.after_cross_attention, self.after_feed_forward)
        addresses = [None if part is None else part.address for part in parts]
        return LayerStruct(self.heads, self.width, *addresses, *map(describe_norm, norms))

    def forward(
        self, x: Tensor, mask: PrefixMask, memory: Tensor | None, memory_mask: PrefixMask | None, store: LayerCache | None
    ) -> Tensor:
        """States (B, Q, W) of the next layer from `x` (B, Q, W), computed with numpy.

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

    def __init__(self, layers: nn.ModuleList, norm: nn.Module, kernels: Kernels | None) -> None:
        super().__init__()
        own = [Int8Layer(cast(EncoderLayer | DecoderLayer, layer), kernels) for layer in layers]
        self.layers, self.norm = nn.ModuleList(own), norm
        self.key_value = _join([layer.cross_attention.key_value for layer in layers if isinstance(layer, DecoderLayer)], kernels)
        self.kernels = kernels if all(layer.fits for layer in own) else None
        if self.kernels is not None:
            self._structs = (LayerStruct * len(own))(*(layer.describe() for layer in own))
            self.stack = StackStruct(ctypes.addressof(self._structs), len(own), describe_norm(norm))
            self.scratch = max(layer.scratch for layer in own)
            self.work = sum(layer.work for layer in own)

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
        if self.kernels is not None and between is None:
            return self._run(self.kernels, self.stack, x, mask, memory, memory_mask, stores)
        for i, layer in enumerate(self.layers):
            x = x if between is None or i == 0 else x + between
            own = memory[i : i + 1], memory_mask, stores[i : i + 1] if stores else None
            if self.kernels is None:
                x = layer(x, mask, own[0][0] if memory else None, memory_mask, own[2][0] if own[2] else None)
            else:
                x = self._run(self.kernels, StackStruct(ctypes.addressof(self._structs[i]), 1, NormStruct()), x, mask, *own)
        return _normed(self.norm, x)

    def _run(
        self,
        kernels: Kernels,
        stack: StackStruct,
        x: Tensor,
        mask: PrefixMask,
        memory: Sequence[Tensor],
        memory_mask: PrefixMask | None,
        stores: Sequence[LayerCache | None] | None,
    ) -> Tensor:
        """Apply the layers of `stack` to `x` in one call."""
        x = x.contiguous()
        rows, queries, _ = x.shape
        starts = steps(rows + 1, x.device) * queries
        places = stores[0].slots.data_ptr() if stores and stores[0] is not None else None
        own = [describe_keys(store.store if store else None, mask.ends) for store in stores or [None] * stack.number]
        seen = [describe_keys(each, None if memory_mask is None else memory_mask.ends) for each in memory]
        kernels.layers(
            ctypes.addressof(stack),
            x.data_ptr(),
            ctypes.byref(RowsStruct(rows, starts.data_ptr())),
            (KeysStruct * len(own))(*own),
            places,
            (KeysStruct * len(seen))(*seen),
            kernels.scratch(rows * queries * self.scratch),
            kernels.threads(rows * queries * self.work),
        )
        return x


def _normed(norm: nn.Module, x: Tensor) -> Tensor:
    return torch.from_numpy(normed(norm, x.numpy()))


def _attend(queries: Tensor, keys_values: Tensor, mask: PrefixMask) -> Tensor:
    return torch.from_numpy(attend(queries.numpy(), keys_values.numpy(), mask.ends.numpy()))


def _entering(linear: nn.Linear, kernels: Kernels | None, residual: Sublayer, activation: str = "none") -> Int8Linear:
    return Int8Linear(linear, kernels, residual.norm if residual.pre else None, activation)


def _after(residual: Sublayer) -> nn.Module:
    return nn.Identity() if residual.pre else residual.norm


def _join(linears: Sequence[nn.Linear], kernels: Kernels | None) -> Int8Linear | None:
    """One linear layer that computes several with the same input."""
    if not linears:
        return None
    with Uninitialized():
        joined = nn.Linear(linears[0].in_features, sum(linear.out_features for linear in linears))
    joined.weight.data = torch.cat([linear.weight.data for linear in linears])
    joined.bias.data = torch.cat([linear.bias.data for linear in linears])
    return Int8Linear(joined, kernels)
