"""The layers of encoder and decoder in bytes: one call each with the compiled kernels, else the usual operators."""

import ctypes

import torch
from torch import Tensor, nn

from specdec_cli.model.attention import PrefixMask, mix
from specdec_cli.model.cache import LayerCache
from specdec_cli.model.int8.kernels import LANES, KeysStruct, LayerStruct, NormStruct, load_kernels
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.transformer import DecoderLayer, EncoderLayer, Sublayer


class Int8Layer(nn.Module):
    """Self-attention, in a decoder attention over the memory, and feed-forward."""

    def __init__(self, layer: EncoderLayer | DecoderLayer) -> None:
        super().__init__()
        self.heads, self.width = layer.attention.heads, layer.attention.head_width
        self.query_key_value = _entering(layer.attention.query_key_value, layer.attention_residual)
        self.output = Int8Linear(layer.attention.output)
        self.after_attention = _after(layer.attention_residual)
        self.query = self.key_value = self.cross_output = None
        self.after_cross_attention: nn.Module = nn.Identity()
        if isinstance(layer, DecoderLayer):
            self.query = _entering(layer.cross_attention.query, layer.cross_attention_residual)
            self.key_value = Int8Linear(layer.cross_attention.key_value)
            self.cross_output = Int8Linear(layer.cross_attention.output)
            self.after_cross_attention = _after(layer.cross_attention_residual)
        feed_forward = layer.feed_forward
        self.inner = _entering(feed_forward.inner, feed_forward.residual, feed_forward.activation_name)
        self.outer = Int8Linear(feed_forward.outer)
        self.after_feed_forward = _after(feed_forward.residual)
        fits = self.width % LANES == 0 and self.inner.outputs % LANES == 0
        self.kernels = load_kernels() if fits and self.inner.kernels is not None else None
        if self.kernels is not None:
            self._describe()

    def _describe(self) -> None:
        parts = (self.query_key_value, self.output, self.query, self.cross_output, self.inner, self.outer)
        norms = (self.after_attention, self.after_cross_attention, self.after_feed_forward)
        addresses = [None if part is None else part.address for part in parts]
        self._struct = LayerStruct(self.heads, self.width, *addresses, *map(_describe_norm, norms))
        whole, inner = self.heads * self.width, self.inner.outputs
        # Floats between the products, and the bytes of the widest product's rows with their ranges.
        self._scratch = 4 * (max(3 * whole, inner) + whole) + max(whole, inner) + 8

    def project_memory(self, states: Tensor) -> Tensor:
        """Keys and values (B, M, 2, H, D) of the encoder's states (B, M, W)."""
        assert self.key_value is not None
        projected: Tensor = self.key_value(states).unflatten(-1, (2, self.heads, self.width))
        return projected

    def forward(
        self,
        x: Tensor,
        mask: PrefixMask,
        memory: Tensor | None = None,
        memory_mask: PrefixMask | None = None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """(B, Q, W) over the memory's keys and values (B, M, 2, H, D); without a cache, over `x` itself."""
        if self.kernels is None:
            return self._forward_by_operators(x, mask, memory, memory_mask, cache)
        x = x.contiguous()
        output = torch.empty_like(x)
        rows, queries = x.shape[:2]
        own = _describe_keys(None if cache is None else cache.store, mask)
        seen = None if memory is None or memory_mask is None else ctypes.byref(_describe_keys(memory, memory_mask))
        self.kernels.layer(
            ctypes.byref(self._struct),
            x.data_ptr(),
            rows,
            queries,
            ctypes.byref(own),
            None if cache is None else cache.slots.data_ptr(),
            seen,
            output.data_ptr(),
            self.kernels.scratch(rows * queries * self._scratch),
            torch.get_num_threads(),
        )
        return output

    def _forward_by_operators(
        self, x: Tensor, mask: PrefixMask, memory: Tensor | None, memory_mask: PrefixMask | None, cache: LayerCache | None
    ) -> Tensor:
        fused = self.query_key_value(x).unflatten(-1, (3, self.heads, self.width))
        keys_values = fused[:, :, 1:] if cache is None else cache.write(fused[:, :, 1:])
        x = self.after_attention(x + self.output(_attend(fused[:, :, 0], keys_values, mask)))
        if memory is not None and memory_mask is not None:
            assert self.query is not None and self.cross_output is not None
            queries = self.query(x).unflatten(-1, (self.heads, self.width))
            x = self.after_cross_attention(x + self.cross_output(_attend(queries, memory, memory_mask)))
        output: Tensor = self.after_feed_forward(x + self.outer(self.inner(x)))
        return output


def _entering(linear: nn.Linear, residual: Sublayer, activation: str = "none") -> Int8Linear:
    return Int8Linear(linear, residual.norm if residual.pre else None, activation)


def _after(residual: Sublayer) -> nn.Module:
    return nn.Identity() if residual.pre else residual.norm


def _attend(queries: Tensor, keys_values: Tensor, mask: PrefixMask) -> Tensor:
    keys, values = keys_values.transpose(1, 3).unbind(2)
    return mix(queries.transpose(1, 2), keys, values, mask.additive).transpose(1, 2).flatten(2)


def _describe_norm(norm: nn.Module) -> NormStruct:
    if not isinstance(norm, nn.LayerNorm):
        return NormStruct(None, None, 0.0)
    return NormStruct(norm.weight.data_ptr(), norm.bias.data_ptr(), norm.eps)


def _describe_keys(stored: Tensor | None, mask: PrefixMask) -> KeysStruct:
    """Of keys and values (B, S, 2, H, D), or of what the layer itself makes."""
    ends = mask.ends
    steps = (ends.data_ptr(), 0 if ends.shape[1] == 1 else ends.stride(1), ends.stride(0))
    if stored is None:
        return KeysStruct(None, None, 0, 0, *steps)
    first, stride = stored.data_ptr(), stored.stride(1)
    return KeysStruct(first, first + stride // 2 * 4, stride, stored.stride(0), *steps)
