"""The encoder of int8 models."""

from torch import Tensor, nn

from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import steps
from specdec_cli.model.int8.embedding import FusedEmbedding
from specdec_cli.model.int8.layers import Int8Layers
from specdec_cli.model.transformer import Encoder


class Int8Encoder(Encoder):
    """The int8 version of `encoder`; its states are 0 at padding."""

    def __init__(self, encoder: Encoder) -> None:
        nn.Module.__init__(self)
        self.padding = encoder.padding
        self.register_module("embedding", FusedEmbedding(encoder.embedding))
        self.register_module("layers", Int8Layers(encoder.layers, encoder.norm))
        self.norm = nn.Identity()

    def forward(self, source: Tensor) -> tuple[Tensor, PrefixMask]:
        states, mask = super().forward(source)
        behind = steps(source.shape[1], source.device) >= mask.ends
        return states.masked_fill(behind[..., None], 0.0), mask
