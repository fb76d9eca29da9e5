"""Conversion of Hugging Face models (Marian, BART, mBART, M2M-100, NLLB) to bundles; transformers need not be installed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from converters.checkpoints import read_weights
from converters.huggingface_generation import decoding_settings, dropped_settings, suppressed_tokens
from converters.huggingface_numbers import check_numbers
from converters.huggingface_tokenizers import read_tokenizer
from converters.layout import build_transformer, keep_decoder_layers
from converters.positions import fairseq_sinusoids, interleaved_frequencies
from specdec_cli.errors import ModelError
from specdec_cli.files import read_json
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.formats import Conversion
from specdec_cli.model.suppression import SUPPRESSED

ARCHITECTURES = {
    "marian": "MarianMTModel",
    "bart": "BartForConditionalGeneration",
    "mbart": "MBartForConditionalGeneration",
    "m2m_100": "M2M100ForConditionalGeneration",
}
"""The models that can be converted: the architecture by `model_type`, as in config.json."""

_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
_LEARNED_OFFSET = 2
_SPECIAL = ("decoder_start_token_id", "eos_token_id")
# Options of older BART configurations, with the only supported value for each model type.
_REQUIRED: Mapping[str, Mapping[str, Any]] = {
    kind: {
        "normalize_before": kind == "mbart",
        "add_final_layer_norm": kind == "mbart",
        "static_position_embeddings": False,
        "extra_pos_embeddings": _LEARNED_OFFSET,
    }
    for kind in ("bart", "mbart")
}


def from_huggingface(
    folder: Path,
    source_language: str = "",
    target_language: str = "",
    task: Task | None = None,
    decoder_layers: Sequence[int] | None = None,
) -> Conversion:
    """Convert the Hugging Face model in `folder`, as written by `save_pretrained`.

    Languages are named as in the model's language tokens (en_XX, eng_Latn, en); empty ones are those in its settings. A `task` of None
    means "summarise" for BART, else "translate". Of the decoder, only the layers `decoder_layers` (from 0; default: all) are kept.
    Raises ModelError for unreadable or missing files and, naming each of them, for settings that are not supported, and UsageError
    for an unknown language.
    """
    config, generation = _settings(folder)
    _check_supported(config, folder)
    weights = _canonical(read_weights(folder))
    check_numbers(folder, config, generation, len(weights["decoder.embed_tokens.weight"]))
    shape = _shape(config, generation, weights)
    weights |= _sinusoids(config, shape)
    if decoder_layers is not None:
        shape, weights = keep_decoder_layers(shape, weights, decoder_layers)
    rows = (shape.source_size, shape.vocabulary_size)
    tokenizer = read_tokenizer(folder, config, generation, (source_language, target_language), rows)
    pieces = (tokenizer.source_size, len(tokenizer))
    if tokenizer.special_tokens.start is not None:
        shape = replace(shape, decoder_start=tokenizer.special_tokens.start)
    if pieces != rows:
        raise ModelError(f"{folder}: {pieces} pieces for source and target, but the embeddings have {rows} rows")
    info = BundleInfo(
        task=task or ("summarise" if config["model_type"] == "bart" else "translate"),
        source_language=tokenizer.languages[0],
        target_language=tokenizer.languages[1],
        **decoding_settings(generation),
    )
    return Conversion(Bundle(info, tokenizer, build_transformer(shape, weights)), dropped_settings(generation))


def is_huggingface(folder: Path) -> bool:
    """Whether `folder` has a config.json with a `model_type`, as Hugging Face models do."""
    config = folder / "config.json"
    return config.exists() and "model_type" in read_json(config, ModelError)


def _settings(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The contents of config.json, and the generation settings: generation_config.json or, without that file, config.json."""
    config = read_json(folder / "config.json", ModelError)
    own = folder / "generation_config.json"
    if not own.exists():
        return config, config
    special = {name: config[name] for name in _SPECIAL if name in config}
    return config, special | read_json(own, ModelError)


def _check_supported(config: Mapping[str, Any], folder: Path) -> None:
    """Raise ModelError naming everything that is not supported."""
    kind, problems = config.get("model_type"), []
    if kind not in ARCHITECTURES:
        problems.append(f"model_type {kind!r} (supported: {', '.join(ARCHITECTURES)})")
    if config.get("activation_function", "gelu") not in _ACTIVATIONS:
        problems.append(f"activation_function {config['activation_function']!r} (supported: {', '.join(_ACTIVATIONS)})")
    heads = [config.get(f"{side}_attention_heads") for side in ("encoder", "decoder")]
    sizes = [config.get(f"{side}_ffn_dim") for side in ("encoder", "decoder")]
    for what, (encoder, decoder) in (("attention heads", heads), ("feed-forward sizes", sizes)):
        if encoder != decoder:
            problems.append(f"{what} that differ between encoder ({encoder}) and decoder ({decoder})")
    required = _REQUIRED.get(str(kind), {})
    problems += [f"{name}={config[name]}" for name, value in required.items() if config.get(name, value) != value]
    if config.get("quantization_config"):
        problems.append("quantised weights")
    if problems:
        raise ModelError(f"{folder}: not supported: {'; '.join(problems)}")


def _canonical(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights under fairseq's names: no prefix `model.`, one embedding per side, the output bias as a vector."""
    found = {name.removeprefix("model."): value for name, value in weights.items()}
    shared = next((found[name] for name in ("shared.weight", "lm_head.weight", "decoder.embed_tokens.weight") if name in found), None)
    if shared is None:
        raise ModelError("weights: no token embeddings")
    for side in ("encoder", "decoder"):
        found.setdefault(f"{side}.embed_tokens.weight", shared)
    if "lm_head.weight" in found:
        found["decoder.output_projection.weight"] = found["lm_head.weight"]
    bias = found.get("final_logits_bias")
    rows = found["decoder.embed_tokens.weight"].shape[0]
    found["output_bias"] = bias.flatten() if bias is not None else found["decoder.embed_tokens.weight"].new_zeros(rows)
    return found


def _sinusoids(config: Mapping[str, Any], shape: TransformerConfig) -> dict[str, Tensor]:
    """The position tables of encoder and decoder, for models with sinusoidal positions."""
    if config["model_type"] == "marian":
        table = interleaved_frequencies(shape.max_positions, shape.width)
    elif config["model_type"] == "m2m_100":
        padding = config["pad_token_id"]
        table = fairseq_sinusoids(shape.max_positions + padding + 1, shape.width, padding)
    else:
        return {}
    return {"encoder.embed_positions.weight": table, "decoder.embed_positions.weight": table}


def _shape(config: Mapping[str, Any], generation: Mapping[str, Any], weights: dict[str, Tensor]) -> TransformerConfig:
    """The shape of the model, from its settings and weights. Adds the suppression of tokens to `weights["output_bias"]`."""
    kind = config["model_type"]
    tokens, source_tokens = weights["decoder.embed_tokens.weight"], weights["encoder.embed_tokens.weight"]
    shared = source_tokens.shape == tokens.shape and bool((source_tokens == tokens).all())
    output = weights.get("decoder.output_projection.weight")
    tied = output is None or config.get("tie_word_embeddings", True) or (output.shape == tokens.shape and bool((output == tokens).all()))
    for token in suppressed_tokens(generation):
        weights["output_bias"] = weights["output_bias"].clone()
        weights["output_bias"][token] += SUPPRESSED
    return TransformerConfig(
        vocabulary_size=len(tokens),
        source_vocabulary_size=0 if shared or len(source_tokens) == len(tokens) else len(source_tokens),
        width=config["d_model"],
        feed_forward=config["encoder_ffn_dim"],
        heads=config["encoder_attention_heads"],
        encoder_layers=config["encoder_layers"],
        decoder_layers=config["decoder_layers"],
        norm="pre" if kind in ("mbart", "m2m_100") else "post",
        activation=_ACTIVATIONS[config.get("activation_function", "gelu")],  # type: ignore[arg-type]
        positions="learned",
        position_offset={"marian": 0, "m2m_100": config["pad_token_id"] + 1}.get(kind, _LEARNED_OFFSET),
        max_positions=config["max_position_embeddings"],
        embedding_scale=bool(config.get("scale_embedding", False)),
        embedding_norm=kind in ("bart", "mbart"),
        shared_embeddings=shared,
        tied_output=tied,
        output_bias=bool((weights["output_bias"] != 0).any()),
        padding=config["pad_token_id"],
        eos=_one(config["eos_token_id"]),
        decoder_start=_one(generation.get("decoder_start_token_id", config.get("decoder_start_token_id"))),
    )


def _one(value: Any) -> int:
    return int(value[0] if isinstance(value, list) else value)
