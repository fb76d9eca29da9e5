"""The encoder of int8 models: one kernel call for embeddings and layers, without computing padding."""

import ctypes
from typing import cast

from torch import Tensor, nn

from specdec_cli.kernels.build import Kernels
from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import steps
from specdec_cli.model.int8.embedding import FusedEmbedding
from specdec_cli.model.int8.layers import Int8Layers
from specdec_cli.model.transformer import Encoder


class Int8Encoder(Encoder):
    """The int8 version of `encoder`; its states are 0 at padding."""

    def __init__(self, encoder: Encoder, kernels: Kernels | None) -> None:
        nn.Module.__init__(self)
        self.padding = encoder.padding
        self.register_module("embedding", FusedEmbedding(encoder.embedding, kernels))
        self.register_module("layers", Int8Layers(encoder.layers, encoder.norm, kernels))
        self.norm = nn.Identity()

    def forward(self, source: Tensor) -> tuple[Tensor, PrefixMask]:
        """States (B, S, W) of `source` ids (B, S), padded on the right, and the mask that hides padding."""
        layers, embedding = cast(Int8Layers, self.layers), cast(FusedEmbedding, self.embedding)
        kernels = layers.kernels
        if kernels is None:
            states, mask = super().forward(source)
            behind = steps(source.shape[1], source.device) >= mask.ends
            return states.masked_fill(behind[..., None], 0.0), mask
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
