"""Token and position embeddings."""

import math
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.dropout import Dropout


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
        rows = config.max_positions + config.position_offset
        self.positions: Tensor | nn.Parameter
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(rows, config.width).normal_(std=0.02))
        else:
            self.register_buffer("positions", sinusoids(rows, config.width), persistent=False)
        self.norm = nn.LayerNorm(config.width) if config.embedding_norm else nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Embeddings (B, T, W) of `ids` (B, T) at `positions` (B, T) or (T,)."""
        return self.place(self.tokens(ids) * self.scale, positions)

    def place(self, vectors: Tensor, positions: Tensor) -> Tensor:
        """Add the embeddings of `positions`, (B, T) or (T,), to scaled token embeddings `vectors` (B, T, W); then
        normalisation and dropout.
        """
        embedded: Tensor = self.dropout(self.norm(vectors + self.at(positions)))
        return embedded

    def at(self, positions: Tensor) -> Tensor:
        """Position embeddings (..., W) for integer `positions` (...)."""
        return F.embedding(positions + self.offset, self.positions)


class Vocabulary(Protocol):
    """Protocol: `embedding` maps ids to vectors, and `output` maps states to logits."""

    embedding: Embedding
    output: nn.Linear
