"""Token and position embeddings of int8 models."""

import ctypes

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.kernels.build import Kernels
from specdec_cli.kernels.structs import LANES, EmbeddingStruct, describe_norm
from specdec_cli.model.embedding import Embedding
from specdec_cli.model.int8.arithmetic import fused
from specdec_cli.model.int8.linear import normed


class FusedEmbedding(nn.Module):
    """The token and position embeddings of `embedding` in float32, by the compiled kernels or, with bit-identical
    results, by numpy.
    """

    def __init__(self, embedding: Embedding, kernels: Kernels | None) -> None:
        super().__init__()
        self.tokens, self.positions, self.norm = embedding.tokens, embedding.positions, embedding.norm
        self.scale, self.offset = embedding.scale, embedding.offset
        self._plain = (embedding,)
        self._width = embedding.tokens.embedding_dim
        self._kernels = kernels if self._width % LANES == 0 else None
        tables = (embedding.tokens.weight.data_ptr(), embedding.positions.data_ptr())
        self.struct = EmbeddingStruct(*tables, self._width, self.offset, describe_norm(self.norm), self.scale)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Embeddings (..., T, W) of `ids` (..., T) at `positions` (..., T) or (T,)."""
        if self._kernels is None:
            places = F.embedding(positions + self.offset, self.positions.detach()).numpy()
            x = fused(F.embedding(ids, self.tokens.weight.detach()).numpy(), np.float32(self.scale), places)
            return torch.from_numpy(normed(self.norm, x))
        ids, positions = ids.contiguous(), positions.expand(ids.shape).contiguous()
        output = self.tokens.weight.new_empty(*ids.shape, self._width)
        self._kernels.embed(ctypes.addressof(self.struct), ids.data_ptr(), positions.data_ptr(), ids.numel(), output.data_ptr())
        return output

    def place(self, vectors: Tensor, positions: Tensor) -> Tensor:
        """Add the embeddings of `positions`, (..., T) or (T,), to scaled token embeddings `vectors` (..., T, W), and
        normalise the sums.
        """
        return self._plain[0].place(vectors, positions)

    def at(self, positions: Tensor) -> Tensor:
        """Position embeddings (..., W) for integer `positions` (...)."""
        return self._plain[0].at(positions)
