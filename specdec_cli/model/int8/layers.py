"""The layers of encoder and decoder in bytes: one call for all of them with the compiled kernels, else the usual operators."""

import ctypes
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from specdec_cli.kernels.build import load_kernels
from specdec_cli.kernels.structs import LANES, KeysStruct, LayerStruct, RowsStruct, StackStruct, describe_keys, describe_norm
from specdec_cli.model.attention import PrefixMask, mix
from specdec_cli.model.cache import LayerCache, steps
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.transformer import DecoderLayer, EncoderLayer, Sublayer
from specdec_cli.model.uninitialized import Uninitialized


class Int8Layer(nn.Module):
    """Self-attention, in a decoder attention over the memory, and feed-forward."""

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

    @property
    def fits(self) -> bool:
        """Whether the kernels can do it."""
        return self.width % LANES == 0 and self.inner.kernels is not None and self.outer.kernels is not None

    @property
    def scratch(self) -> int:
        """Bytes for each position: floats between the products, and the widest product's input with its range."""
        whole, inner = self.heads * self.width, self.inner.outputs
        return 4 * (max(3 * whole, inner) + whole) + max(whole, inner) + 8

    @property
    def work(self) -> int:
        """Multiplications for each position, those of attention not counted."""
        parts = (self.query_key_value, self.output, self.query, self.cross_output, self.inner, self.outer)
        return sum(part.inputs * part.outputs for part in parts if part is not None)

    def describe(self) -> LayerStruct:
        """It as the kernels know it."""
        parts = (self.query_key_value, self.output, self.query, self.cross_output, self.inner, self.outer)
        norms = (self.after_attention, self.after_cross_attention, self.after_feed_forward)
        addresses = [None if part is None else part.address for part in parts]
        return LayerStruct(self.heads, self.width, *addresses, *map(describe_norm, norms))

    def forward(
        self, x: Tensor, mask: PrefixMask, memory: Tensor | None, memory_mask: PrefixMask | None, store: LayerCache | None
    ) -> Tensor:
        """(B, Q, W) by operators: over what the store holds or over `x` itself, and the memory's keys and values (B, M, 2, H, D)."""
        fused = self.query_key_value(x).unflatten(-1, (3, self.heads, self.width))
        keys_values = fused[:, :, 1:] if store is None else store.write(fused[:, :, 1:])
        x = self.after_attention(x + self.output(_attend(fused[:, :, 0], keys_values, mask)))
        if memory is not None and memory_mask is not None:
            assert self.query is not None and self.cross_output is not None
            queries = self.query(x).unflatten(-1, (self.heads, self.width))
            x = self.after_cross_attention(x + self.cross_output(_attend(queries, memory, memory_mask)))
        output: Tensor = self.after_feed_forward(x + self.outer(self.inner(x)))
        return output


class Int8Layers(nn.Module):
    """The layers of an encoder or a decoder, then the norm after the last of them."""

    def __init__(self, layers: nn.ModuleList, norm: nn.Module) -> None:
        super().__init__()
        own = [Int8Layer(cast(EncoderLayer | DecoderLayer, layer)) for layer in layers]
        self.layers, self.norm = nn.ModuleList(own), norm
        self.key_value = _join([layer.cross_attention.key_value for layer in layers if isinstance(layer, DecoderLayer)])
        self.kernels = load_kernels() if all(layer.fits for layer in own) else None
        if self.kernels is not None:
            self._structs = (LayerStruct * len(own))(*(layer.describe() for layer in own))
            self.stack = StackStruct(ctypes.addressof(self._structs), len(own), describe_norm(norm))
            self.scratch = max(layer.scratch for layer in own)
            self.work = sum(layer.work for layer in own)

    def project_memory(self, states: Tensor) -> list[Tensor]:
        """Keys and values (B, M, 2, H, D) of the encoder's states (B, M, W) for each layer, by one product."""
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
        """(B, Q, W) over each layer's keys and values of the memory and what its store holds. It may overwrite `x`.

        `between` (B, Q, W), where given, is added before every layer but the first; layer by layer, because one call of the
        kernels runs all layers.
        """
        if self.kernels is None or between is not None:
            for i, layer in enumerate(self.layers):
                x = x if between is None or i == 0 else x + between
                x = layer(x, mask, memory[i] if memory else None, memory_mask, stores[i] if stores else None)
            output: Tensor = self.norm(x)
            return output
        x = x.contiguous()
        rows, queries, _ = x.shape
        starts = steps(rows + 1, x.device) * queries
        places = stores[0].slots.data_ptr() if stores and stores[0] is not None else None
        own = [describe_keys(store.store if store else None, mask.ends) for store in stores or [None] * len(self.layers)]
        seen = [describe_keys(each, None if memory_mask is None else memory_mask.ends) for each in memory]
        self.kernels.layers(
            ctypes.addressof(self.stack),
            x.data_ptr(),
            ctypes.byref(RowsStruct(rows, starts.data_ptr())),
            (KeysStruct * len(own))(*own),
            places,
            (KeysStruct * len(seen))(*seen),
            self.kernels.scratch(rows * queries * self.scratch),
            self.kernels.threads(rows * queries * self.work),
        )
        return x


def _entering(linear: nn.Linear, residual: Sublayer, activation: str = "none") -> Int8Linear:
    return Int8Linear(linear, residual.norm if residual.pre else None, activation)


def _after(residual: Sublayer) -> nn.Module:
    return nn.Identity() if residual.pre else residual.norm


def _join(linears: Sequence[nn.Linear]) -> Int8Linear | None:
    """One product that stands for several of one input."""
    if not linears:
        return None
    with Uninitialized():
        joined = nn.Linear(linears[0].in_features, sum(linear.out_features for linear in linears))
    joined.weight.data = torch.cat([linear.weight.data for linear in linears])
    joined.bias.data = torch.cat([linear.bias.data for linear in linears])
    return Int8Linear(joined)


def _attend(queries: Tensor, keys_values: Tensor, mask: PrefixMask) -> Tensor:
    keys, values = keys_values.transpose(1, 3).unbind(2)
    return mix(queries.transpose(1, 2), keys, values, mask.additive).transpose(1, 2).flatten(2)
