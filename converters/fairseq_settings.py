"""The settings of a fairseq checkpoint, and the check that specdec supports them."""

import argparse
import re
from collections.abc import Mapping
from typing import Any

from specdec_cli.errors import ModelError

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu"}
TASKS = ("translation", "translation_from_pretrained_bart", "translation_multi_simple_epoch", "denoising")

_ARCHITECTURE = re.compile(r"(transformer|m?bart)(?!_lm)(_\w+)?")
_PARTS = ("encoder", "decoder", "quant_noise")
# Settings that must be equal for encoder and decoder, with their names for messages.
_EQUAL = {
    "attention_heads": "attention heads",
    "ffn_embed_dim": "feed-forward sizes",
    "embed_dim": "widths",
    "normalize_before": "positions of the layer norm",
}
# Options of fairseq that specdec does not support.
_MUST_BE_OFF = (
    "adaptive_input",
    "adaptive_softmax_cutoff",
    "base_layers",
    "char_inputs",
    "character_embeddings",
    "cross_self_attention",
    "decoder_add_adapters",
    "decoder_layers_to_keep",
    "decoder_recurrent_stacking",
    "decoder_xformers_att_config",
    "encoder_add_adapters",
    "encoder_layers_to_keep",
    "encoder_recurrent_stacking",
    "encoder_xformers_att_config",
    "lang_tok_replacing_bos_eos",
    "merge_src_tgt_embed",
    "no_cross_attention",
    "no_decoder_final_norm",
    "no_token_positional_embeddings",
    "prepend_bos",
    "scale_attn",
    "scale_fc",
    "scale_heads",
    "scale_resids",
    "use_factorized_embedding",
)
# fairseq's defaults, for settings that old checkpoints do not store.
_DEFAULTS: Mapping[str, Any] = {
    "task": "translation",
    "arch": "transformer",
    "activation_fn": "relu",
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_embed_dim": 512,
    "encoder_ffn_embed_dim": 2048,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_normalize_before": False,
    "decoder_normalize_before": False,
    "max_source_positions": 1024,
    "max_target_positions": 1024,
}


def read_settings(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a fairseq checkpoint by their flat names (`arch`, `task`, `encoder_layers`, ...), defaults included.

    Reads the formats of old checkpoints (an argparse.Namespace) and new ones (nested dictionaries). Raises ModelError if the
    checkpoint has no settings.
    """
    if checkpoint.get("args") is not None:
        found = _plain(checkpoint["args"])
    else:
        parts = _plain(checkpoint.get("cfg"))
        task, model = _flat(_plain(parts.get("task"))), _flat(_plain(parts.get("model")))
        names = {"arch": model.get("_name"), "task": task.get("_name")}
        found = task | {name: value for name, value in names.items() if value} | model
    if not found:
        raise ModelError("no settings (args, or cfg with a model)")
    given = {name: value for name, value in found.items() if value is not None}
    settings = {**_DEFAULTS, **given}
    for name in ("embed_dim", "ffn_embed_dim"):
        settings.setdefault(f"decoder_{name}", settings[f"encoder_{name}"])
    return settings


def language_token_sources(settings: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The language tokens of a multilingual task: that before the source, and that before the target.

    Each is "src" (token of the source language), "tgt" (token of the target language) or None (no token).
    """
    default = (settings.get("encoder_langtok"), "tgt" if settings.get("decoder_langtok") else None)
    of_source, of_target = (settings.get("langtoks") or {}).get("main", default)
    return of_source, of_target


def check_supported(settings: Mapping[str, Any]) -> None:
    """Raise ModelError, naming each of them, if settings of a fairseq checkpoint are not supported by specdec."""
    problems = []
    if not _ARCHITECTURE.fullmatch(settings["arch"]):
        problems.append(f"architecture {settings['arch']!r} (supported: transformer, bart and mbart of any size)")
    if settings["task"] not in TASKS:
        problems.append(f"task {settings['task']!r} (supported: {', '.join(TASKS)})")
    if settings["activation_fn"] not in ACTIVATIONS:
        problems.append(f"activation_fn {settings['activation_fn']!r} (supported: {', '.join(ACTIVATIONS)})")
    for name, what in _EQUAL.items():
        encoder, decoder = settings[f"encoder_{name}"], settings[f"decoder_{name}"]
        if encoder != decoder:
            problems.append(f"{what} that differ between encoder ({encoder}) and decoder ({decoder})")
    width = settings["decoder_embed_dim"]
    inner = [name for name in ("decoder_input_dim", "decoder_output_dim") if settings.get(name, width) != width]
    problems += [f"{name}={settings[name]} with decoder_embed_dim={width}" for name in inner]
    problems += [f"{name}={settings[name]}" for name in _MUST_BE_OFF if settings.get(name)]
    if any(spec != "main" for spec in settings.get("langtoks_specs") or ()):
        problems.append(f"langtoks_specs={settings['langtoks_specs']}")
    of_source, of_target = language_token_sources(settings)
    if of_source not in (None, "src", "tgt") or of_target not in (None, "tgt"):
        problems.append(f"langtoks {of_source} and {of_target}")
    if problems:
        raise ModelError(f"not supported: {'; '.join(problems)}")


def _plain(values: Any) -> dict[str, Any]:
    if isinstance(values, argparse.Namespace):
        return dict(vars(values))
    return {str(name): value for name, value in values.items()} if isinstance(values, Mapping) else {}


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten nested parts: `encoder: {layers: 6}` becomes `encoder_layers: 6`."""
    flat = {name: value for name, value in values.items() if name not in _PARTS}
    return flat | {f"{part}_{name}": value for part in _PARTS for name, value in _plain(values.get(part)).items()}
