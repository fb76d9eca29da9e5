"""Conversion of Hugging Face models (Marian, BART, mBART, M2M-100, NLLB, T5) to bundles; transformers need not be installed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from converters import t5
from converters.checkpoints import read_weights
from converters.conversion import Conversion, UnknownTask
from converters.huggingface_tokenizers import read_tokenizer, reads_bytes
from converters.layout import build_transformer, fairseq_sinusoids, interleaved_frequencies, keep_decoder_layers
from converters.purposes import find_purpose
from specdec_cli.errors import ModelError
from specdec_cli.files import read_json
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_info import LONGEST, BeamStop, Task
from specdec_cli.model.choices import SUPPRESSED
from specdec_cli.model.config import TransformerConfig

_BEAM_STOPS: Mapping[Any, BeamStop] = {False: "heuristic", True: "first", "never": "never"}
# Unsupported options that affect greedy decoding or beam search, each with the values that have no effect.
_UNSUPPORTED: Mapping[str, tuple[Any, ...]] = {
    "begin_suppress_tokens": ([],),
    "constraints": (),
    "decoder_start_sequence": (),
    "diversity_penalty": (0.0,),
    "do_sample": (False,),
    "encoder_repetition_penalty": (1.0,),
    "exponential_decay_length_penalty": (),
    "force_words_ids": (),
    "forced_decoder_ids": ([],),
    "guidance_scale": (1.0,),
    "max_time": (),
    "num_beam_groups": (1,),
    "penalty_alpha": (0.0,),
    "renormalize_logits": (False,),
    "sequence_bias": ({}, []),
    "stop_strings": ([],),
    "token_healing": (False,),
    "watermarking_config": (),
}


def decoding_settings(generation: Mapping[str, Any]) -> dict[str, Any]:
    """The generation settings of a Hugging Face model as fields of BundleInfo, by name.

    Lengths in a bundle count emitted tokens; `min_length` and `max_length` of transformers count the decoder start too, so they are
    reduced by 1. A `max_length` of 0 means that the only limit is the model's, a `beam_size` of 0 that none is given.
    """
    shortest = generation.get("min_new_tokens") or max(int(generation.get("min_length") or 0) - 1, 0)
    longest = generation.get("max_new_tokens") or max(int(generation.get("max_length") or 0) - 1, 0)
    beams, penalty = int(generation.get("num_beams") or 1), generation.get("length_penalty")
    return {
        "min_length": int(shortest),
        "max_length": int(longest) if longest <= LONGEST else 0,
        "no_repeat_ngram_size": int(generation.get("no_repeat_ngram_size") or 0),
        "source_ngram_size": int(generation.get("encoder_no_repeat_ngram_size") or 0),
        "repetition_penalty": float(generation.get("repetition_penalty") or 1.0),
        "forced_end": generation.get("forced_eos_token_id") is not None,
        "beam_size": beams if beams > 1 else 0,
        "length_penalty": 1.0 if penalty is None else float(penalty),
        "beam_stop": _BEAM_STOPS.get(generation.get("early_stopping") or False, "heuristic"),
    }


def suppressed_tokens(generation: Mapping[str, Any]) -> list[int]:
    """The ids that must never be emitted: `suppress_tokens`, and those of `bad_words_ids` that are a single token other than EOS."""
    end = _ids(generation.get("eos_token_id"))
    words = [ids[0] for ids in generation.get("bad_words_ids") or [] if len(ids) == 1 and ids[0] not in end]
    return [*words, *(generation.get("suppress_tokens") or [])]


def dropped_settings(generation: Mapping[str, Any]) -> tuple[str, ...]:
    """The generation settings that change the output of transformers but are not supported by specdec, as `name=value`."""
    found = [name for name, neutral in _UNSUPPORTED.items() if generation.get(name) is not None and generation[name] not in neutral]
    dropped = [f"{name}={generation[name]}" for name in found]
    dropped += [f"bad_words_ids={words}" for words in generation.get("bad_words_ids") or [] if len(words) > 1]
    if (generation.get("early_stopping") or False) not in _BEAM_STOPS:
        dropped.append(f"early_stopping={generation['early_stopping']}")
    ends = _ids(generation.get("eos_token_id"))
    forced = _ids(generation.get("forced_eos_token_id"))
    if len(ends) > 1:
        dropped.append(f"eos_token_id={ends}")
    if forced and forced != ends[:1]:
        dropped.append(f"forced_eos_token_id={generation['forced_eos_token_id']}")
    return tuple(dropped)


def _ids(value: Any) -> list[int]:
    if value is None:
        return []
    return [int(each) for each in value] if isinstance(value, list) else [int(value)]


_SIZES = ("d_model", "encoder_ffn_dim", "encoder_attention_heads", "encoder_layers", "decoder_layers", "max_position_embeddings")
_OF_MODEL = ("pad_token_id", "eos_token_id")
_OF_GENERATION = (
    "eos_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "suppress_tokens",
    "bad_words_ids",
)


def _check_sizes(folder: Path, config: Mapping[str, Any]) -> None:
    """Raise ModelError, naming file and key, for a size in config.json that is not a positive integer."""
    for key in t5.SIZES if config["model_type"] in t5.KINDS else _SIZES:
        if not _is_integer(config.get(key)) or config[key] < 1:
            raise ModelError(f"{folder / 'config.json'}: {key} must be a positive integer, not {config.get(key)!r}")


def check_ids(folder: Path, config: Mapping[str, Any], generation: Mapping[str, Any], tokens: int) -> None:
    """Check the token ids in config.json (`config`) and in the generation settings; `tokens` is the vocabulary size.

    Raises ModelError, naming file and key, for a missing id, and for an id outside the vocabulary.
    """
    for key in _OF_MODEL:
        _check_ids(folder / "config.json", key, config.get(key), tokens, needed=True)
    for key in _OF_GENERATION:
        value = generation.get(key)
        file = "config.json" if value == config.get(key) else "generation_config.json"
        _check_ids(folder / file, key, value, tokens, needed=key == "decoder_start_token_id")


def _check_ids(path: Path, key: str, value: Any, tokens: int, needed: bool) -> None:
    ids = list(_flat(value))
    if needed and not ids:
        raise ModelError(f"{path}: {key} is missing")
    for each in ids:
        if not _is_integer(each) or not 0 <= each < tokens:
            raise ModelError(f"{path}: {key} is {each!r}, but the vocabulary has {tokens} tokens")


def _flat(value: Any) -> Iterator[Any]:
    """Yield the ids in a value, which is None, an id, or a nested list of ids."""
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    elif value is not None:
        yield value


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


ARCHITECTURES = {
    "marian": "MarianMTModel",
    "bart": "BartForConditionalGeneration",
    "mbart": "MBartForConditionalGeneration",
    "m2m_100": "M2M100ForConditionalGeneration",
    **t5.KINDS,
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
    means "summarise" for BART, and "translate" for others but the T5 family: see `find_purpose`. Of the decoder, only the layers
    `decoder_layers` (from 0; default: all) are kept. Raises ModelError for unreadable or missing files and, naming each of them, for
    settings that are not supported, UnknownTask for a model whose task is not known, and UsageError for an unknown language.
    """
    config, generation = _settings(folder)
    _check_supported(config, folder)
    _check_sizes(folder, config)
    is_t5, purpose = config["model_type"] in t5.KINDS, None
    if is_t5:
        purpose = find_purpose(folder, config, task, (source_language, target_language))
        if purpose is None:
            raise UnknownTask(f"{folder}: a model of the T5 family does not say what it is for; name its task with --task")
        task, generation = purpose.task, generation | purpose.generation
        source_language, target_language = source_language or purpose.language, target_language or purpose.language
    weights = t5.canonical(read_weights(folder), config) if is_t5 else _canonical(read_weights(folder))
    check_ids(folder, config, generation, len(weights["decoder.embed_tokens.weight"]))
    fields = t5.t5_fields(config, in_bytes=reads_bytes(folder, config)) if is_t5 else _fields(config)
    shape = _shape(config, fields, generation, weights)
    weights |= _sinusoids(config, shape)
    if decoder_layers is not None:
        shape, weights = keep_decoder_layers(shape, weights, decoder_layers)
    rows = (shape.source_size, shape.vocabulary_size)
    tokenizer = read_tokenizer(folder, config, generation, (source_language, target_language), rows, purpose)
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
    verifier, parts = build_transformer(shape, weights)
    return Conversion(Bundle(info, tokenizer, verifier), dropped_settings(generation), parts)


def is_huggingface(folder: Path) -> bool:
    """Whether `folder` has a config.json with a `model_type`, as Hugging Face models do."""
    config = folder / "config.json"
    return config.exists() and "model_type" in read_json(config, ModelError)


def _settings(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The contents of config.json, and the generation settings: generation_config.json or, without that file, config.json."""
    if not (folder / "config.json").exists():
        raise ModelError(f"{folder}: no model; config.json and the weights of a model of Hugging Face are expected in this folder")
    config = read_json(folder / "config.json", ModelError)
    own = folder / "generation_config.json"
    if not own.exists():
        return config, config
    special = {name: config[name] for name in _SPECIAL if name in config}
    return config, special | read_json(own, ModelError)


def _check_supported(config: Mapping[str, Any], folder: Path) -> None:
    """Raise ModelError naming everything that is not supported."""
    kind, problems = config.get("model_type"), []
    if kind in t5.KINDS:
        problems += t5.problems_of(config)
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
    found["output_bias"] = torch.zeros(rows) if bias is None else bias.flatten().float()
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


def _shape(
    config: Mapping[str, Any], fields: Mapping[str, Any], generation: Mapping[str, Any], weights: dict[str, Tensor]
) -> TransformerConfig:
    """The shape of the model, from its settings (`fields` are some of it) and weights. Adds the suppression of tokens to
    `weights["output_bias"]`.
    """
    tokens, source_tokens = weights["decoder.embed_tokens.weight"], weights["encoder.embed_tokens.weight"]
    shared = source_tokens.shape == tokens.shape and torch.equal(source_tokens, tokens)
    output = weights.get("decoder.output_projection.weight")
    # Models of the T5 family have a projection of their own if it is stored and differs, whatever the setting says.
    is_tied = config["model_type"] not in t5.KINDS and config.get("tie_word_embeddings", True)
    tied = output is None or is_tied or torch.equal(output, tokens)
    for token in suppressed_tokens(generation):
        weights["output_bias"] = weights["output_bias"].clone()
        weights["output_bias"][token] += SUPPRESSED
    return TransformerConfig(
        vocabulary_size=len(tokens),
        source_vocabulary_size=0 if shared or len(source_tokens) == len(tokens) else len(source_tokens),
        width=config["d_model"],
        shared_embeddings=shared,
        tied_output=tied,
        output_bias=bool((weights["output_bias"] != 0).any()),
        padding=config["pad_token_id"],
        eos=_one(config["eos_token_id"]),
        decoder_start=_one(generation.get("decoder_start_token_id", config.get("decoder_start_token_id"))),
        **fields,
    )


def _fields(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of TransformerConfig that a config.json of Marian, BART, mBART or M2M-100 sets."""
    kind = config["model_type"]
    return {
        "feed_forward": config["encoder_ffn_dim"],
        "heads": config["encoder_attention_heads"],
        "encoder_layers": config["encoder_layers"],
        "decoder_layers": config["decoder_layers"],
        "norm": "pre" if kind in ("mbart", "m2m_100") else "post",
        "activation": _ACTIVATIONS[config.get("activation_function", "gelu")],
        "positions": "learned",
        "position_offset": {"marian": 0, "m2m_100": config["pad_token_id"] + 1}.get(kind, _LEARNED_OFFSET),
        "max_positions": config["max_position_embeddings"],
        "embedding_scale": bool(config.get("scale_embedding", False)),
        "embedding_norm": kind in ("bart", "mbart"),
    }


def _one(value: Any) -> int:
    return int(value[0] if isinstance(value, list) else value)
