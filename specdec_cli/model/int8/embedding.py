"""Embeddings in one call."""

from torch import Tensor, nn

from specdec_cli.model.int8.kernels import LANES, load_kernels
from specdec_cli.model.transformer import Embedding


class FusedEmbedding(nn.Module):
    """What `embedding` gives, in the same floating point, by the compiled kernels where there are any."""

    def __init__(self, embedding: Embedding) -> None:
        super().__init__()
        self.tokens, self.positions, self.norm = embedding.tokens, embedding.positions, embedding.norm
        self.scale, self.offset = embedding.scale, embedding.offset
        self._plain = (embedding,)
        self._width = embedding.tokens.embedding_dim
        self._kernels = load_kernels() if self._width % LANES == 0 else None
        self._tables = (embedding.tokens.weight.data_ptr(), embedding.positions.data_ptr())

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Embed `ids` (..., T) at `positions` (..., T) or (T,): (..., T, W)."""
        if self._kernels is None:
            plain: Tensor = self._plain[0](ids, positions)
            return plain
        ids, positions = ids.contiguous(), positions.expand(ids.shape).contiguous()
        output = self.tokens.weight.new_empty(*ids.shape, self._width)
        self._kernels.embed(
            *self._tables, self.scale, self.offset, ids.data_ptr(), positions.data_ptr(), ids.numel(), self._width, output.data_ptr()
        )
        normed: Tensor = self.norm(output)
        return normed
