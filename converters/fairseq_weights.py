"""The weights of a fairseq checkpoint of any version, under the names of current versions."""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from converters.positions import fairseq_sinusoids
from specdec_cli.errors import ModelError

OUTPUT = "decoder.output_projection.weight"
PADDING = 1
_MAX_POSITIONS = 2**16
OFFSET = PADDING + 1
"""The row (from 0) of a fairseq position table that belongs to the first token of a sentence."""

# Entries that are not weights of the encoder or decoder.
_IGNORED = re.compile(r".*\.version|.*embed_positions\.(_float_tensor|weights)|classification_heads\..*")
_FUSED = re.compile(r"(.*)\.in_proj_(weight|bias)")
_OLD_NORM = re.compile(r"((encoder|decoder)\.layers\.\d+)\.layer_norms\.(\d)\.(weight|bias)")
_NORMS = {
    "encoder": ("self_attn_layer_norm", "final_layer_norm"),
    "decoder": ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"),
}


def read_weights(stored: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights of a fairseq checkpoint as float32, under the names of fairseq's current version.

    `stored` are the entries of the checkpoint. A position table (positions + 2, width), in which row 2 belongs to the first token,
    is added for encoder and decoder where positions are sinusoidal. An output projection equal to the target embedding is left out.
    Raises ModelError for missing weights and for an invalid number of positions.
    """
    weights: dict[str, Tensor] = {}
    for name, value in stored.items():
        if isinstance(value, Tensor) and not _IGNORED.fullmatch(name):
            weights |= _current(name, value.float())
    learned = [f"{side}.embed_positions.weight" for side in ("encoder", "decoder") if settings.get(f"{side}_learned_pos")]
    absent = [name for name in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", *learned) if name not in weights]
    if absent:
        raise ModelError(f"no {' and no '.join(absent)}")
    _add_positions(weights, settings)
    output = weights.get(OUTPUT)
    if output is not None and same(output, weights["decoder.embed_tokens.weight"]):
        del weights[OUTPUT]
    return weights


def same(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors have equal shapes and values."""
    return first.shape == second.shape and bool((first == second).all())


def _current(name: str, value: Tensor) -> dict[str, Tensor]:
    """A weight under its current name; a fused query, key and value projection is split into three."""
    fused, norm = _FUSED.fullmatch(name), _OLD_NORM.fullmatch(name)
    if fused:
        return {f"{fused[1]}.{part}_proj.{fused[2]}": chunk for part, chunk in zip("qkv", value.chunk(3), strict=True)}
    if norm and int(norm[3]) < len(_NORMS[norm[2]]):
        return {f"{norm[1]}.{_NORMS[norm[2]][int(norm[3])]}.{norm[4]}": value}
    return {OUTPUT if name == "decoder.embed_out" else name: value}


def _add_positions(weights: dict[str, Tensor], settings: Mapping[str, Any]) -> None:
    """Add sinusoidal position tables where none is learned, and cut both tables to the shorter one.

    A TransformerConfig has one number of positions for both sides. Raises ModelError for an invalid number.
    """
    width = weights["encoder.embed_tokens.weight"].shape[1]
    for name in ("max_source_positions", "max_target_positions"):
        if not isinstance(settings[name], int) or not 1 <= settings[name] <= _MAX_POSITIONS:
            raise ModelError(f"{name} must be an integer from 1 to {_MAX_POSITIONS}, not {settings[name]!r}")
    tables = {}
    for side, positions in (("encoder", settings["max_source_positions"]), ("decoder", settings["max_target_positions"])):
        name = f"{side}.embed_positions.weight"
        tables[name] = weights[name] if settings.get(f"{side}_learned_pos") else fairseq_sinusoids(positions + OFFSET, width, PADDING)
    rows = min(map(len, tables.values()))
    weights |= {name: table[:rows] for name, table in tables.items()}
