"""A trained Transformer with more or fewer layers: a second stage may change the depth of the first."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import nn

from specdec_cli.errors import UsageError
from specdec_cli.fields import config_from_dict
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import DecoderLayer, EncoderLayer, Transformer

LAYER_COUNTS = ("encoder_layers", "decoder_layers")


def changed_depth(config: TransformerConfig, changes: Mapping[str, Any]) -> TransformerConfig:
    """`config` with the layer counts of `changes`, whose other values must be those of `config`.

    Raises UsageError naming the keys that would change anything else, and ModelError for an unknown key.
    """
    wanted = config_from_dict(TransformerConfig, config.to_dict() | dict(changes))
    shape = replace(wanted, **{name: getattr(config, name) for name in LAYER_COUNTS})
    different = [f"{key} {getattr(config, key)}" for key in changes if getattr(shape, key) != getattr(config, key)]
    if different:
        raise UsageError(f"--init brings its own shape ({', '.join(different)}); of [model], only the numbers of layers can change")
    return wanted


def with_depth(first: Transformer, config: TransformerConfig, dropout: float) -> Transformer:
    """The weights of `first` in a Transformer of `config`, which differs only in its numbers of layers.

    Fewer layers: the first ones are kept. More layers: each new one copies the last trained layer and begins as the
    identity, since the products that add to the residual stream are zero (pre-norm only; a post-norm layer then only
    normalises once more).
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
