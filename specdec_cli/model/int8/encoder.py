"""The encoder in bytes: embeddings and layers in one call, over the tokens alone and not what pads them."""

import ctypes
from typing import cast

from torch import Tensor, nn

from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.int8.embedding import FusedEmbedding
from specdec_cli.model.int8.layers import Int8Layers
from specdec_cli.model.transformer import Encoder


class Int8Encoder(Encoder):
    """What `encoder` does, its products in bytes; states behind a row's end are 0."""

    def __init__(self, encoder: Encoder) -> None:
        nn.Module.__init__(self)
        self.padding = encoder.padding
        self.register_module("embedding", FusedEmbedding(encoder.embedding))
        self.register_module("layers", Int8Layers(encoder.layers, encoder.norm))
        self.norm = nn.Identity()

    def forward(self, source: Tensor) -> tuple[Tensor, PrefixMask]:
        """States (B, S, W) and mask of `source` ids (B, S), padded on the right."""
        layers, embedding = cast(Int8Layers, self.layers), cast(FusedEmbedding, self.embedding)
        kernels = layers.kernels
        if kernels is None:
            return super().forward(source)
        source = source.contiguous()
        rows, length = source.shape
        ends = source.new_empty(rows, 1)
        states = embedding.tokens.weight.new_empty(rows, length, embedding.tokens.embedding_dim)
        kernels.encode(
            ctypes.addressof(embedding.struct),
            ctypes.addressof(layers.stack),
            source.data_ptr(),
            rows,
            length,
            self.padding,
            ends.data_ptr(),
            states.data_ptr(),
            kernels.scratch(8 * (rows + 1) + rows * length * layers.scratch),
            kernels.threads(rows * length * layers.work),
        )
        return states, PrefixMask(ends, length, states.dtype)
