"""Settings and weights of the T5 family (T5, T5 v1.1, Flan-T5, mT5, UMT5, ByT5, MADLAD-400) under the names of `layout.py`."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from specdec_cli.errors import ModelError
from specdec_cli.model.config import Activation

KINDS = {"t5": "T5ForConditionalGeneration", "mt5": "MT5ForConditionalGeneration", "umt5": "UMT5ForConditionalGeneration"}
"""The models of the family: the architecture by `model_type`. T5 v1.1, Flan-T5, ByT5 and MADLAD-400 have the type "t5"."""
SIZES = ("d_model", "d_kv", "d_ff", "num_heads", "num_layers")
LONGEST, LONGEST_IN_BYTES = 4096, 8192
"""The most positions of a sentence, which the family does not bound: tokens, or bytes in ByT5."""
_ACTIVATIONS: Mapping[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "silu": "silu",
    "swish": "silu",
}
_PROJECTIONS = [name if gate == "" else f"{gate}-{name}" for gate in ("", "gated") for name in _ACTIVATIONS]
_BUCKETS, _FARTHEST = "relative_attention_num_buckets", "relative_attention_max_distance"
_MOST_BUCKETS, _LONGEST_DISTANCE = 4096, 2**16
_BLOCK = re.compile(r"(encoder|decoder)\.block\.(\d+)\.layer\.(\d)\.(.+)\.weight")
_ATTENTIONS = {"SelfAttention": "self_attn", "EncDecAttention": "encoder_attn"}
_PRODUCTS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}
_PARTS = {
    **{f"{name}.{part}": f"{own}.{product}" for name, own in _ATTENTIONS.items() for part, product in _PRODUCTS.items()},
    "DenseReluDense.wi": "fc1",
    "DenseReluDense.wi_0": "fc1",
    "DenseReluDense.wi_1": "fc1_factors",
    "DenseReluDense.wo": "fc2",
}
_NORMS = {
    ("encoder", 0): "self_attn_layer_norm",
    ("encoder", 1): "final_layer_norm",
    ("decoder", 0): "self_attn_layer_norm",
    ("decoder", 1): "encoder_attn_layer_norm",
    ("decoder", 2): "final_layer_norm",
}
_TABLE = "SelfAttention.relative_attention_bias"
_UNUSED = "EncDecAttention.relative_attention_bias"
"""A table that checkpoints of T5 v1.0 hold, and no implementation reads."""


def problems_of(config: Mapping[str, Any]) -> list[str]:
    """A message for each setting in a config.json of the T5 family that is not supported."""
    name = config.get("feed_forward_proj", "relu")
    problems = [] if name in _PROJECTIONS else [f"feed_forward_proj {name!r} (supported: {', '.join(_PROJECTIONS)})"]
    if config.get("is_encoder_decoder", True) is not True:
        problems.append("an encoder alone (is_encoder_decoder)")
    buckets, farthest = _buckets(config)
    if not (_is_between(buckets, 4, _MOST_BUCKETS) and _is_between(farthest, buckets // 2 + 1, _LONGEST_DISTANCE)):
        problems.append(f"{_BUCKETS} {buckets!r} with {_FARTHEST} {farthest!r}")
    return problems


def _is_between(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _buckets(config: Mapping[str, Any]) -> tuple[Any, Any]:
    """The number of buckets of distances, and the distance from which on all have the same bucket."""
    return config.get(_BUCKETS, 32), config.get(_FARTHEST, 128)


def canonical(weights: Mapping[str, Tensor], config: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights under the names of `layout.py`.

    Biases of buckets of distances become biases of distances, and the scale of the top states of T5 v1.0 becomes a part of the last norm.
    Raises ModelError for weights of another model, and for tables of another number of buckets.
    """
    renamed: dict[str, Tensor] = {}
    tables: dict[str, dict[int, Tensor]] = defaultdict(dict)
    for name, value in weights.items():
        if not (match := _BLOCK.fullmatch(name)):
            continue
        side, layer, place, part = match[1], int(match[2]), int(match[3]), match[4]
        if part == _TABLE:
            tables[side][layer] = value
        elif part != _UNUSED:
            renamed[f"{side}.layers.{layer}.{_part(name, side, place, part)}.weight"] = value
    for side, own in tables.items():
        renamed[f"{side}.relative_bias.weight"] = torch.cat([_by_distance(own[layer], side, config) for layer in sorted(own)])
    for side in ("encoder", "decoder"):
        if (norm := weights.get(f"{side}.final_layer_norm.weight")) is not None:
            renamed[f"{side}.layer_norm.weight"] = norm
    if _scales_states(config) and "decoder.layer_norm.weight" in renamed:
        renamed["decoder.layer_norm.weight"] = renamed["decoder.layer_norm.weight"] * config["d_model"] ** -0.5
    return renamed | _embeddings(weights)


def _part(name: str, side: str, place: int, part: str) -> str:
    own = _NORMS.get((side, place)) if part == "layer_norm" else _PARTS.get(part)
    if own is None:
        raise ModelError(f"weights: {name} is not supported")
    return own


def _embeddings(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The token embeddings, which both sides share, the output projection, and an output bias of zeros."""
    names = ("shared.weight", "decoder.embed_tokens.weight", "encoder.embed_tokens.weight")
    shared = next((weights[name] for name in names if name in weights), None)
    if shared is None:
        raise ModelError("weights: no token embeddings")
    found = {f"{side}.embed_tokens.weight": shared for side in ("encoder", "decoder")} | {"output_bias": torch.zeros(len(shared))}
    if (head := weights.get("lm_head.weight")) is not None:
        found["decoder.output_projection.weight"] = head
    return found


def _scales_states(config: Mapping[str, Any]) -> bool:
    """Whether the states before the output projection are multiplied by the root of 1 / d_model, as in T5 v1.0 but not in v1.1.

    transformers 5 stores that as a setting. Earlier versions take it from `tie_word_embeddings`; mT5 has no such scale.
    """
    if config["model_type"] == "mt5":
        return False
    return bool(config.get("scale_decoder_outputs", config.get("tie_word_embeddings") is not False))


def t5_fields(config: Mapping[str, Any], *, in_bytes: bool) -> dict[str, Any]:
    """The fields of TransformerConfig that a config.json of the family sets; `in_bytes`: the tokens are bytes."""
    gate, _, activation = str(config.get("feed_forward_proj", "relu")).rpartition("-")
    return {
        "feed_forward": config["d_ff"],
        "heads": config["num_heads"],
        "encoder_layers": config["num_layers"],
        "decoder_layers": config.get("num_decoder_layers") or config["num_layers"],
        "norm": "pre",
        # "gated-gelu" stands for gelu_new, but "gelu" alone for the exact function.
        "activation": "gelu-tanh" if (gate, activation) == ("gated", "gelu") else _ACTIVATIONS[activation],
        "positions": "relative",
        "max_positions": LONGEST_IN_BYTES if in_bytes else LONGEST,
        "embedding_scale": False,
        "reach": _reach(config),
        "layer_biases": config["model_type"] == "umt5",
        "norm_kind": "rms",
        "norm_epsilon": float(config.get("layer_norm_epsilon", 1e-6)),
        "biases": False,
        "gated": gate == "gated",
        "attention_width": config["num_heads"] * config["d_kv"],
        "attention_scale": False,
    }


def buckets_of(distances: Tensor, buckets: int, farthest: int, *, ahead: bool) -> Tensor:
    """The bucket of each distance from a query to a key, computed in float32 as transformers does. With `ahead`, keys may stand after their
    query, as in an encoder.
    """
    first: Tensor | int = 0
    if ahead:
        buckets //= 2
        first = (distances > 0).long() * buckets
        sizes = distances.abs()
    else:
        sizes = (-distances).clamp_min(0)
    exact = buckets // 2
    large = exact + (torch.log(sizes.float() / exact) / math.log(farthest / exact) * (buckets - exact)).long()
    return first + torch.where(sizes < exact, sizes, large.clamp_max(buckets - 1))


def _reach(config: Mapping[str, Any]) -> int:
    """The smallest distance behind from which on all distances have the same bucket, in the encoder and in the decoder."""
    buckets, farthest = _buckets(config)
    reaches = []
    for ahead in (False, True):
        found = buckets_of(-torch.arange(farthest + 2), buckets, farthest, ahead=ahead)
        reaches.append(int((found != found[-1]).nonzero()[-1]) + 1)
    return max(reaches)


def _by_distance(table: Tensor, side: str, config: Mapping[str, Any]) -> Tensor:
    """Biases (heads, distances) of the distances up to `_reach`, those behind first, from a `table` (buckets, heads)."""
    buckets, farthest = _buckets(config)
    if tuple(table.shape) != (buckets, config["num_heads"]):
        raise ModelError(f"weights: a table of relative positions is {tuple(table.shape)}, not {(buckets, config['num_heads'])}")
    reach, ahead = _reach(config), side == "encoder"
    distances = torch.arange(-reach, reach + 1 if ahead else 1)
    return table[buckets_of(distances, buckets, farthest, ahead=ahead)].t().float().contiguous()
