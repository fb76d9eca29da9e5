"""Token and position embeddings of int8 models."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.int8.arithmetic import fused
from specdec_cli.model.int8.linear import normed
from specdec_cli.model.layers import Embedding


class FusedEmbedding(nn.Module):
    """The token and position embeddings of `embedding` in float32, each scaled token and its position added with one
    rounding.
    """

    def __init__(self, embedding: Embedding) -> None:
        super().__init__()
        self.tokens, self.positions, self.norm = embedding.tokens, embedding.positions, embedding.norm
        self.scale, self.offset = embedding.scale, embedding.offset
        self._plain = (embedding,)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Embeddings (..., T, W) of `ids` (..., T) at `positions` (..., T) or (T,)."""
        places = F.embedding(positions + self.offset, self.positions.detach()).numpy()
        x = fused(F.embedding(ids, self.tokens.weight.detach()).numpy(), np.float32(self.scale), places)
        return torch.from_numpy(normed(self.norm, x))

    def place(self, vectors: Tensor, positions: Tensor) -> Tensor:
        """Add the embeddings of `positions`, (..., T) or (T,), to scaled token embeddings `vectors` (..., T, W), and
        normalise the sums.
        """
        return self._plain[0].place(vectors, positions)

    def at(self, positions: Tensor) -> Tensor:
        """Position embeddings (..., W) for integer `positions` (...)."""
        return self._plain[0].at(positions)
