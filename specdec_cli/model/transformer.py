"""One encoder-decoder Transformer, configured, not copied."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.attention import Attention, Mask, PrefixMask, additive_mask, step_mask
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.choices import Choices
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.dropout import Dropout
from specdec_cli.model.length_head import LengthHead

ROW_MULTIPLE = 4
"""In floating point, query rows are multiples of this: matrix products of fewer rows use other kernels."""
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}


@dataclass
class Memory:
    """What the encoder leaves for decoding.

    `states` (B, S, W); `mask` of each row's own tokens; `keys_values` one (B, S, 2, H, D) a decoder layer.
    """

    states: Tensor
    mask: PrefixMask
    keys_values: list[Tensor]


def sinusoids(positions: int, width: int) -> Tensor:
    """Position encodings (positions, width), sines before cosines (tensor2tensor's layout)."""
    half = width // 2
    frequencies = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(10000.0) / (half - 1)))
    angles = torch.arange(positions, dtype=torch.float64)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


class Embedding(nn.Module):
    """Token and position embeddings, scaled and normalised as the configuration says."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding, dropout: float) -> None:
        super().__init__()
        self.tokens = tokens
        self.scale = math.sqrt(config.width) if config.embedding_scale else 1.0
        self.offset = config.position_offset
        rows = config.max_positions + config.position_offset
        self.positions: Tensor | nn.Parameter
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(rows, config.width).normal_(std=0.02))
        else:
            self.register_buffer("positions", sinusoids(rows, config.width), persistent=False)
        self.norm = nn.LayerNorm(config.width) if config.embedding_norm else nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Embed `ids` (B, T) at `positions` (B, T) or (T,): (B, T, W)."""
        return self.place(self.tokens(ids) * self.scale, positions)

    def place(self, vectors: Tensor, positions: Tensor) -> Tensor:
        """Scaled token embeddings (B, T, W), put at `positions` (B, T) or (T,): (B, T, W)."""
        embedded: Tensor = self.dropout(self.norm(vectors + self.at(positions)))
        return embedded

    def at(self, positions: Tensor) -> Tensor:
        """The embeddings (..., W) of `positions` (...)."""
        return F.embedding(positions + self.offset, self.positions)


class Vocabulary(Protocol):
    """Where ids become vectors, and states become logits."""

    embedding: Embedding
    output: nn.Linear


class Sublayer(nn.Module):
    """A residual connection with its layer norm, before (pre-norm) or after (post-norm) the sum."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = nn.LayerNorm(config.width)
        self.dropout = Dropout(dropout)

    def enter(self, x: Tensor) -> Tensor:
        """What the sublayer reads."""
        entered: Tensor = self.norm(x) if self.pre else x
        return entered

    def leave(self, x: Tensor, change: Tensor) -> Tensor:
        """The residual sum."""
        total: Tensor = x + self.dropout(change)
        return total if self.pre else self.norm(total)


class FeedForward(nn.Module):
    """Two products with an activation between them, and their residual connection."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.activation_name = config.activation
        self.activation = ACTIVATIONS[config.activation]
        self.inner = nn.Linear(config.width, config.feed_forward)
        self.outer = nn.Linear(config.feed_forward, config.width)
        self.residual = Sublayer(config, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, W) to (B, T, W)."""
        return self.residual.leave(x, self.outer(self.activation(self.inner(self.residual.enter(x)))))


class EncoderLayer(nn.Module):
    """Self-attention over the whole source, then feed-forward."""

    def __init__(self, config: TransformerConfig, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(config.width, config.heads, "self")
        self.attention_residual = Sublayer(config, dropout)
        self.feed_forward = FeedForward(config, dropout)

    def forward(self, x: Tensor, mask: PrefixMask) -> Tensor:
        """(B, S, W), of which each row sees its own tokens."""
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
        """(B, Q, W) under `mask`, additive (B, 1, Q, S) or of prefixes, over the memory's keys and values (B, M, 2, H, D).

        Without a cache the keys are those of `x` itself, with one those of everything it holds.
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
    """One encoder layer after the other."""

    def forward(self, x: Tensor, mask: PrefixMask) -> Tensor:
        """(B, S, W), of which each row sees its own tokens."""
        for layer in self:
            x = layer(x, mask)
        return x


class DecoderLayers(nn.ModuleList):
    """One decoder layer after the other."""

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
        """(B, Q, W) under `mask`, over each layer's keys and values of the memory and what its store holds.

        `between` (B, Q, W), where given, is added before every layer but the first.
        """
        for number, (layer, keys_values, store) in enumerate(zip(self, memory, stores or [None] * len(self), strict=True)):
            x = layer(x if between is None or number == 0 else x + between, mask, keys_values, memory_mask, store)
        return x


class Encoder(nn.Module):
    """Embeds and encodes a source."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding, dropout: float = 0.0) -> None:
        super().__init__()
        self.padding = config.padding
        self.embedding = Embedding(config, tokens, dropout)
        self.layers = EncoderLayers(EncoderLayer(config, dropout) for _ in range(config.encoder_layers))
        self.norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()

    def forward(self, source: Tensor) -> tuple[Tensor, PrefixMask]:
        """States (B, S, W) and mask of `source` ids (B, S), padded on the right."""
        x = self.embedding(source, torch.arange(source.shape[1], device=source.device))
        places = torch.arange(1, source.shape[1] + 1, device=source.device)
        mask = PrefixMask(((source != self.padding) * places).amax(1, keepdim=True), source.shape[1], x.dtype)
        return self.norm(self.layers(x, mask)), mask


class Transformer(nn.Module):
    """Encoder, decoder and output projection; the verifier, and every teacher of ours."""

    def __init__(self, config: TransformerConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        tokens = nn.Embedding(config.vocabulary_size, config.width)
        source_tokens = tokens if config.shared_embeddings else nn.Embedding(config.source_size, config.width)
        self.encoder = Encoder(config, source_tokens, dropout)
        self.embedding = Embedding(config, tokens, dropout)
        self.layers = DecoderLayers(DecoderLayer(config, dropout) for _ in range(config.decoder_layers))
        self.norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()
        self.output = nn.Linear(config.width, config.vocabulary_size, bias=config.output_bias)
        if config.tied_output:
            self.output.weight = tokens.weight
        self.length_head = LengthHead(config.width, config.length_reach) if config.order == "masked" else None
        self.row_multiple = ROW_MULTIPLE
        self.choices = Choices()
        self.apply(_initialize)

    @property
    def batch_invariant(self) -> bool:
        """Whether a row's numbers depend on nothing but the row: neither on other rows nor on threads."""
        return self.row_multiple == 1

    def encode(self, source: Tensor) -> Memory:
        """Encode `source` ids (B, S), padded on the right, and project it for every decoder layer."""
        states, mask = self.encoder(source)
        return Memory(states, mask, self.layers.project_memory(states))

    def decode(self, ids: Tensor, positions: Tensor, mask: Mask, memory: Memory, cache: Sequence[KeyStore] | None = None) -> Tensor:
        """Top states (B, Q, W) of `ids` (B, Q) at `positions` (B, Q) or (Q,), under a mask, additive (B, 1, Q, S) or of prefixes."""
        x = self.embedding(ids, positions)
        states: Tensor = self.norm(self.layers(x, mask, memory.keys_values, memory.mask, cache))
        return states

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of the tokens that follow those of `target` (B, T) by a step; it begins with the start of `config`."""
        logits: Tensor = self.output(self.teach(self.encode(source), target))
        return logits

    def teach(self, memory: Memory, target: Tensor) -> Tensor:
        """Top states (B, T, W) of `target` (B, T), folded as the order says: each sees the steps up to its own.

        In the order "masked" each sees its whole row but the padding on the right.
        """
        length, device, dtype = target.shape[1], target.device, memory.states.dtype
        if self.config.order == "masked":
            mask: Mask = PrefixMask((target != self.config.padding).sum(1, keepdim=True), length, dtype)
        else:
            mask = additive_mask(step_mask(length, self.config.step, device)[None, None], dtype)
        return self.decode(target, torch.arange(length, device=device), mask, memory)


def _initialize(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
