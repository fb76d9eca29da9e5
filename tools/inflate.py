"""`python -m tools.inflate BUNDLE OUTPUT --times 3 --decoder-layers 12`: a bundle of the same function, at another size.

Its outputs are those of the bundle but for rounding, while its passes cost what they cost at that size: so real text and real acceptance
are measured at the size of other models. States are tiled `times` times, so that layer norms keep their statistics, and heads and inner
units are repeated; the width of a head stays. Further layers add zero to the states. A drafter is left out.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path

import torch
from torch import Tensor, nn

from specdec_cli.errors import ModelError, SpecdecError, UsageError
from specdec_cli.files import new_folder
from specdec_cli.model.bundle import save_bundle
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.storage import Uninitialized
from specdec_cli.model.transformer import Transformer
from specdec_cli.opening.conversions import load_checkpoint
from specdec_cli.opening.models import find_bundle

_FUSED = {"query_key_value": 3, "key_value": 2}
"""The projections of attention that are stored as one matrix, and how many they are."""


def inflated_config(old: TransformerConfig, times: int, inner: int = 0, encoder: int = 0, decoder: int = 0) -> TransformerConfig:
    """The configuration with `times` the width and heads, `inner` times the inner units (0: `times`), and so many layers of the encoder and
    of the decoder (0: as they are).

    Raises UsageError for sizes below those of `old`, and ModelError for a model to which layers cannot be added, or sizes beyond limits.
    """
    layers = encoder or old.encoder_layers, decoder or old.decoder_layers
    if times < 1 or inner < 0:
        raise UsageError("the width and the inner units can only be multiplied by 1 or more")
    if layers[0] < old.encoder_layers or layers[1] < old.decoder_layers:
        raise UsageError(f"the model has {old.encoder_layers} + {old.decoder_layers} layers, and none can be left out")
    if old.norm == "post" and layers != (old.encoder_layers, old.decoder_layers):
        raise ModelError("a layer cannot be added to a model with layer norms after the sublayers: it would normalise the states again")
    return replace(
        old,
        width=old.width * times,
        heads=old.heads * times,
        feed_forward=old.feed_forward * (inner or times),
        encoder_layers=layers[0],
        decoder_layers=layers[1],
        positions="learned",  # a tiled table is none of sinusoids
    )


@torch.no_grad()
def inflate(model: Transformer, times: int, inner: int = 0, encoder: int = 0, decoder: int = 0) -> Transformer:
    """A Transformer of the same function as `model`, but for rounding, with the sizes of `inflated_config`; raises what that raises."""
    old = model.config
    config = inflated_config(old, times, inner, encoder, decoder)
    with Uninitialized():
        large = Transformer(config).eval()
    weights = dict(model.named_parameters())
    for name, target in large.named_parameters():
        if name in weights:
            target.copy_(_tiled(name, weights[name], old, times, inner or times))
        elif name.endswith("positions"):
            target.copy_(model.get_submodule(name.rpartition(".")[0]).get_buffer("positions").repeat(1, times))
        else:
            _fill_added(name, target)
    return large


def _tiled(name: str, weight: Tensor, old: TransformerConfig, times: int, inner: int) -> Tensor:
    """The weights `weight` of the model with the configuration `old` for states that are tiled `times` times.

    Inputs that are equal copies are averaged: each has 1/`times` of the weight.
    """
    module = name.split(".")[-2]
    if module == "tokens":
        return weight.repeat(1, times) * _embedding_scale(old, times)
    if name.endswith("positions"):
        return weight.repeat(1, times)
    to_states = name not in ("output.weight", "output.bias") and not name.startswith("length_head.")
    outputs = (inner if module == "inner" else times) if to_states else 1
    tiled = torch.cat([part.repeat(outputs, *[1] * (part.dim() - 1)) for part in weight.chunk(_FUSED.get(module, 1))])
    if weight.dim() == 2:
        inputs = inner if module == "outer" else times
        return tiled.repeat(1, inputs) / inputs
    last = "norm" if old.norm == "pre" else f"layers.{old.decoder_layers - 1}.feed_forward.residual.norm"
    if old.tied_output and name.rpartition(".")[0] == last:
        return tiled / (times * _embedding_scale(old, times))
    return tiled


def _embedding_scale(old: TransformerConfig, times: int) -> float:
    """The factor of tiled token embeddings: a model that multiplies them by the square root of its width does so by a larger one."""
    return 1 / sqrt(times) if old.embedding_scale else 1.0


def _fill_added(name: str, target: Tensor) -> None:
    """Fill the weights of a layer that is added: its sublayers compute what others do, and their last products are zero."""
    *_, module, kind = name.split(".")
    if module in ("output", "outer") or kind == "bias":
        target.zero_()
    elif module == "norm":
        target.fill_(1)
    else:
        nn.init.xavier_uniform_(target, generator=torch.Generator().manual_seed(0))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.inflate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", help="the folder of a bundle, or the name of a shipped one")
    parser.add_argument("output", type=Path, help="the folder of the new bundle, which does not exist yet")
    parser.add_argument("--times", type=int, default=2, help="multiple of the width and of the heads (default: %(default)s)")
    parser.add_argument("--inner", type=int, default=0, help="multiple of the inner units (default: that of --times)")
    parser.add_argument("--encoder-layers", type=int, default=0, help="layers of the encoder (default: as many as the bundle has)")
    parser.add_argument("--decoder-layers", type=int, default=0, help="layers of the decoder (default: as many as the bundle has)")
    parser.add_argument("--storage", choices=("float32", "float16", "int8"), default="int8", help="number format (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    try:
        with new_folder(chosen.output, "bundle.json", force=False) as partial:
            bundle = load_checkpoint(find_bundle(chosen.bundle))
            bundle.verifier = inflate(bundle.verifier, chosen.times, chosen.inner, chosen.encoder_layers, chosen.decoder_layers)
            if bundle.drafter is not None:
                bundle.drop_drafter()
            save_bundle(bundle, partial, chosen.storage)
    except SpecdecError as error:
        sys.exit(f"error: {chosen.bundle}: {error}")
    shape, weights = bundle.shape, sum(weight.numel() for weight in bundle.verifier.parameters())
    layers = f"{shape.encoder_layers} + {shape.decoder_layers} layers"
    sizes = f"width {shape.width}, {shape.heads} heads, {shape.feed_forward} inner units, {layers}"
    print(f"{chosen.output}: {weights / 1e6:.0f} million weights, {sizes}")


if __name__ == "__main__":
    main()
