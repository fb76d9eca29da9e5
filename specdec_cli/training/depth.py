"""Initialisation of a Transformer from a trained one with another number of layers."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from specdec_cli.errors import UsageError
from specdec_cli.fields import checked_values
from specdec_cli.model.config import PRESET_SIZES, TransformerConfig, preset
from specdec_cli.model.layers import DecoderLayer, EncoderLayer
from specdec_cli.model.transformer import Transformer

_LAYER_COUNTS = ("encoder_layers", "decoder_layers")


def changed_depth(config: TransformerConfig, changes: Mapping[str, Any]) -> TransformerConfig:
    """`config` with `encoder_layers` and `decoder_layers` from `changes`, where given.

    Raises UsageError if `changes` has another value than `config` for any other key, and ModelError for an unknown key.
    """
    wanted = checked_values(TransformerConfig, changes)
    different = [key for key, value in wanted.items() if key not in _LAYER_COUNTS and value != getattr(config, key)]
    if different:
        told = ", ".join(f"{key} {getattr(config, key)}, not {wanted[key]}" for key in different)
        raise UsageError(f"the initial model has {told}; only encoder_layers and decoder_layers may differ from it")
    return TransformerConfig.from_dict(config.to_dict() | wanted)


def check_preset(config: TransformerConfig, name: str, changes: Mapping[str, Any]) -> None:
    """Raise UsageError if a size of the preset `name` differs from that in `config`, the configuration of the initial model.

    Sizes that are keys of `changes` are not compared. Raises ModelError for an unknown preset.
    """
    wanted = preset(name, config.vocabulary_size)
    sizes = [size for size in PRESET_SIZES if size not in changes and getattr(wanted, size) != getattr(config, size)]
    if sizes:
        told = ", ".join(f"{size} {getattr(config, size)}, not {getattr(wanted, size)}" for size in sizes)
        raise UsageError(
            f"preset {name} is not the shape of the initial model ({told}); leave it out, or set the numbers of layers in [model]"
        )


def with_depth(first: Transformer, config: TransformerConfig, dropout: float) -> Transformer:
    """A Transformer of `config` with the weights of `first`; `config` differs from `first.config` only in numbers of layers.

    `dropout` is its dropout rate. With fewer layers, the first ones are kept. With more, each new layer is a copy of the last
    trained one whose output projections onto the residual stream are zero. So a new pre-norm layer is initially the identity; a new
    post-norm layer initially applies its layer norms only.
    """
    model = Transformer(config, dropout)
    own = model.state_dict()
    model.load_state_dict(own | {name: value for name, value in first.state_dict().items() if name in own})
    for layers, trained in ((model.encoder.layers, first.encoder.layers), (model.layers, first.layers)):
        for layer in list(layers)[len(trained) :]:
            layer.load_state_dict(trained[-1].state_dict())
            _make_identity(layer)
    return model


def _make_identity(layer: nn.Module) -> None:
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    products = [layer.attention.output, layer.feed_forward.outer]
    if isinstance(layer, DecoderLayer):
        products.append(layer.cross_attention.output)
    for product in products:
        nn.init.zeros_(product.weight)
        nn.init.zeros_(product.bias)
