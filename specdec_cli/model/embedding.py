"""Token and position embeddings."""

import math
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.dropout import Dropout


def sinusoids(positions: int, width: int) -> Tensor:
    """Sinusoidal position encodings (positions, width), sines before cosines (tensor2tensor's layout)."""
    half = width // 2
    frequencies = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(10000.0) / (half - 1)))
    angles = torch.arange(positions, dtype=torch.float64)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


class Embedding(nn.Module):
    """Token and position embeddings, scaled and normalised according to the configuration."""

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
        """Embeddings (B, T, W) of scaled token embeddings (B, T, W) at `positions` (B, T) or (T,)."""
        embedded: Tensor = self.dropout(self.norm(vectors + self.at(positions)))
        return embedded

    def at(self, positions: Tensor) -> Tensor:
        """Position embeddings (..., W) of `positions` (...)."""
        return F.embedding(positions + self.offset, self.positions)


class Vocabulary(Protocol):
    """Maps ids to vectors, and states to logits."""

    embedding: Embedding
    output: nn.Linear
