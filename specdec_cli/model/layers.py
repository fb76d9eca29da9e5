"""Encoder and decoder layers."""

from collections.abc import Callable, Sequence
from typing import cast

from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.attention import Attention, Mask, PrefixMask
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.dropout import Dropout

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}


class Sublayer(nn.Module):
    """A residual connection with its layer norm, before (pre-norm) or after (post-norm) the sum."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = nn.LayerNorm(config.width)
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
        self.inner = nn.Linear(config.width, config.feed_forward)
        self.outer = nn.Linear(config.feed_forward, config.width)
        self.residual = Sublayer(config, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """States (B, T, W) from states (B, T, W)."""
        return self.residual.leave(x, self.outer(self.activation(self.inner(self.residual.enter(x)))))


class EncoderLayer(nn.Module):
    """Self-attention over the whole source, then feed-forward."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(config.width, config.heads, "self")
        self.attention_residual = Sublayer(config, dropout)
        self.feed_forward = FeedForward(config, dropout)

    def forward(self, x: Tensor, mask: PrefixMask) -> Tensor:
        """States (B, S, W) from states (B, S, W); each row attends to its own tokens."""
        queries, keys_values = self.attention.project(self.attention_residual.enter(x))
        x = self.attention_residual.leave(x, self.attention.attend(queries, keys_values, mask))
        output: Tensor = self.feed_forward(x)
        return output


class DecoderLayer(nn.Module):
    """Self-attention over the prefix, attention over the memory, then feed-forward."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(config.width, config.heads, "self")
        self.attention_residual = Sublayer(config, dropout)
        self.cross_attention = Attention(config.width, config.heads, "cross")
        self.cross_attention_residual = Sublayer(config, dropout)
        self.feed_forward = FeedForward(config, dropout)

    def project_memory(self, states: Tensor) -> Tensor:
        """Keys and values (B, M, 2, H, D) of the encoder's states (B, M, W)."""
        return self.cross_attention.project_memory(states)

    def forward(self, x: Tensor, mask: Mask, memory: Tensor, memory_mask: PrefixMask, cache: KeyStore | None) -> Tensor:
        """States (B, Q, W) from states (B, Q, W), with the memory's keys and values (B, M, 2, H, D); an additive mask is (B, 1, Q, S).

        Self-attention is over all keys in the cache, or without a cache over those of `x` itself.
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
    """The encoder layers in order."""

    def forward(self, x: Tensor, mask: PrefixMask) -> Tensor:
        """States (B, S, W) from states (B, S, W); each row attends to its own tokens."""
        for layer in self:
            x = layer(x, mask)
        return x


class DecoderLayers(nn.ModuleList):
    """The decoder layers in order."""

    def project_memory(self, states: Tensor) -> list[Tensor]:
        """Keys and values (B, M, 2, H, D) of the encoder's states (B, M, W) for each layer."""
        return [cast(DecoderLayer, layer).project_memory(states) for layer in self]

    def forward(
        self,
        x: Tensor,
        mask: Mask,
        memory: Sequence[Tensor],
        memory_mask: PrefixMask,
        stores: Sequence[KeyStore | None] | None,
        between: Tensor | None = None,
    ) -> Tensor:
        """States (B, Q, W) from states (B, Q, W), with the memory's keys and values and the store of each layer.

        `between` (B, Q, W), if given, is added before every layer but the first.
        """
        for number, (layer, keys_values, store) in enumerate(zip(self, memory, stores or [None] * len(self), strict=True)):
            x = layer(x if between is None or number == 0 else x + between, mask, keys_values, memory_mask, store)
        return x
