"""Layers of a Transformer: dropout, embeddings, encoder and decoder layers."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.attention import Attention, Mask, PrefixMask, layer_masks
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.linear import Linear

_BYTE = 256


class Dropout(nn.Module):
    """Dropout (Srivastava et al. 2014) at a rate rounded to a multiple of 1/256.

    One random number per element would take a seventh of a training step on a CPU; one random byte per element is enough.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.threshold = round(rate * _BYTE)

    def forward(self, x: Tensor) -> Tensor:
        """Set random elements of `x` to 0 and scale the others up, in a new tensor; in evaluation mode, return `x`."""
        if not self.training or self.threshold == 0:
            return x
        words = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.threshold
        return x * kept.to(x.dtype).mul_(_BYTE / (_BYTE - self.threshold))


def sinusoids(positions: int, width: int) -> Tensor:
    """Sinusoidal position encodings (positions, width): all sines, then all cosines (tensor2tensor's layout)."""
    half = width // 2
    frequencies = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(10000.0) / (half - 1)))
    angles = torch.arange(positions, dtype=torch.float64)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


class Embedding(nn.Module):
    """Token and position embeddings, with scale and layer normalisation according to the configuration.

    `tokens` is the table of token embeddings, which may be shared with another module.
    """

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding, dropout: float) -> None:
        super().__init__()
        self.tokens = tokens
        self.scale = math.sqrt(config.width) if config.embedding_scale else 1.0
        self.offset = config.position_offset
        # With relative positions, there are no rows.
        rows = 0 if config.positions == "relative" else config.max_positions + config.position_offset
        self.positions: Tensor | nn.Parameter
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(rows, config.width).normal_(std=0.02))
        else:
            self.register_buffer("positions", sinusoids(rows, config.width), persistent=False)
        self.norm = make_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Embeddings (B, T, W) of `ids` (B, T) at `positions` (B, T) or (T,)."""
        return self.place(self.tokens(ids) * self.scale, positions)

    def place(self, vectors: Tensor, positions: Tensor) -> Tensor:
        """Add the embeddings of `positions`, (B, T) or (T,), to scaled token embeddings `vectors` (B, T, W); then
        normalisation and dropout.
        """
        embedded: Tensor = self.dropout(self.norm(vectors + self.at(positions) if len(self.positions) else vectors))
        return embedded

    def at(self, positions: Tensor) -> Tensor:
        """Position embeddings (..., W) for integer `positions` (...)."""
        return F.embedding(positions + self.offset, self.positions)


class Vocabulary(Protocol):
    """Protocol: `embedding` maps ids to vectors, and `output` maps states to logits."""

    embedding: Embedding
    output: nn.Linear


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}


def make_norm(config: TransformerConfig) -> nn.LayerNorm | nn.RMSNorm:
    """A norm over states (..., W), of the kind of the configuration."""
    kind = nn.LayerNorm if config.norm_kind == "layer" else nn.RMSNorm
    return kind(config.width, eps=config.norm_epsilon)


class Sublayer(nn.Module):
    """The residual connection around a sublayer, with layer norm before the sublayer (pre-norm) or after the sum
    (post-norm).
    """

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = make_norm(config)
        self.dropout = Dropout(dropout)

    def enter(self, x: Tensor) -> Tensor:
        """The input of the sublayer: `x`, normalised in a pre-norm layer."""
        entered: Tensor = self.norm(x) if self.pre else x
        return entered

    def leave(self, x: Tensor, change: Tensor) -> Tensor:
        """The sum of `x` and the output `change` of the sublayer, normalised in a post-norm layer."""
        total: Tensor = x + self.dropout(change)
        return total if self.pre else self.norm(total)


class FeedForward(nn.Module):
    """Two linear layers with an activation between them, and their residual connection."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.activation_name = config.activation
        self.activation = ACTIVATIONS[config.activation]
        self.gated = config.gated
        self.inner = Linear(config.width, (2 if config.gated else 1) * config.feed_forward, bias=config.biases)
        self.outer = Linear(config.feed_forward, config.width, bias=config.biases)
        self.residual = Sublayer(config, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """States (B, T, W) after the sublayer, from states (B, T, W) before it."""
        units = self.inner(self.residual.enter(x))
        if self.gated:
            activated, factors = units.chunk(2, -1)
            units = self.activation(activated) * factors
        else:
            units = self.activation(units)
        return self.residual.leave(x, self.outer(units))


class EncoderLayer(nn.Module):
    """An encoder layer: self-attention over the source without padding, then feed-forward."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(config, "self")
        self.attention_residual = Sublayer(config, dropout)
        self.feed_forward = FeedForward(config, dropout)

    def forward(self, x: Tensor, mask: PrefixMask) -> Tensor:
        """States (B, S, W) of the next layer from states (B, S, W); a row attends to those of its positions that
        `mask` shows.
        """
        queries, keys_values = self.attention.project(self.attention_residual.enter(x))
        x = self.attention_residual.leave(x, self.attention.attend(queries, keys_values, mask))
        output: Tensor = self.feed_forward(x)
        return output


class DecoderLayer(nn.Module):
    """A decoder layer: self-attention over the prefix, cross-attention over the encoder's states, then feed-forward."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(config, "self")
        self.attention_residual = Sublayer(config, dropout)
        self.cross_attention = Attention(config, "cross")
        self.cross_attention_residual = Sublayer(config, dropout)
        self.feed_forward = FeedForward(config, dropout)

    def project_memory(self, states: Tensor) -> Tensor:
        """The keys and values (B, M, 2, H, D) of the encoder's states (B, M, W), for this layer's cross-attention."""
        return self.cross_attention.project_memory(states)

    def forward(self, x: Tensor, mask: Mask, memory: Tensor, memory_mask: PrefixMask, cache: KeyStore | None) -> Tensor:
        """States (B, Q, W) of the next layer from `x` (B, Q, W), with the source's keys and values `memory` (B, M,
        2, H, D).

        With a cache, the keys and values of `x` are written to it, and self-attention is over all S positions of the
        cache that `mask` shows; without a cache it is over the S = Q positions of `x`. A mask that is a tensor is
        additive, (B, 1, Q, S).
        """
        queries, keys_values = self.attention.project(self.attention_residual.enter(x))
        if cache is not None:
            keys_values = cache.write(keys_values)
        x = self.attention_residual.leave(x, self.attention.attend(queries, keys_values, mask))
        queries = self.cross_attention.project_queries(self.cross_attention_residual.enter(x))
        x = self.cross_attention_residual.leave(x, self.cross_attention.attend(queries, memory, memory_mask))
        output: Tensor = self.feed_forward(x)
        return output


class EncoderLayers(nn.ModuleList):
    """The layers of an encoder, in order."""

    def forward(self, x: Tensor, mask: PrefixMask, biases: Tensor | None = None) -> Tensor:
        """States (B, S, W) of the last layer from embeddings (B, S, W); a row attends to those of its positions that
        `mask` shows, with `biases` (T, B, H, S, S) added to its scores, if there are any.
        """
        for layer, masked in zip(self, layer_masks(mask, biases, len(self)), strict=True):
            x = layer(x, masked)
        return x


class DecoderLayers(nn.ModuleList):
    """The layers of a decoder, in order."""

    def project_memory(self, states: Tensor) -> list[Tensor]:
        """For each layer, the keys and values (B, M, 2, H, D) of the encoder's states (B, M, W)."""
        return [cast(DecoderLayer, layer).project_memory(states) for layer in self]

    def forward(
        self,
        x: Tensor,
        mask: Mask,
        memory: Sequence[Tensor],
        memory_mask: PrefixMask,
        stores: Sequence[KeyStore | None] | None,
        between: Tensor | None = None,
        biases: Tensor | None = None,
    ) -> Tensor:
        """States (B, Q, W) of the last layer from inputs `x` (B, Q, W), with the source's keys and values (`memory`)
        for each layer.

        `stores` has a cache for each layer, to which the keys and values of its input are written; without one a
        layer attends to its input only. `mask` is for self-attention; one that is a tensor is additive, (B, 1, Q,
        S). `between` (B, Q, W), if given, is added to the input of every layer but the first; `biases` (T, B, H, Q, S) to the scores of
        self-attention.
        """
        masks = layer_masks(mask, biases, len(self))
        stored = stores or [None] * len(self)
        for number, (layer, masked, keys_values, store) in enumerate(zip(self, masks, memory, stored, strict=True)):
            x = layer(x if between is None or number == 0 else x + between, masked, keys_values, memory_mask, store)
        return x
