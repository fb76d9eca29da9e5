"""Conversion of fairseq models (transformer, bart, mbart) to bundles; fairseq need not be installed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from converters.checkpoints import check_sizes, find_weights, read_pickle
from converters.fairseq_dictionaries import SPECIAL
from converters.fairseq_settings import ACTIVATIONS, check_supported, read_settings
from converters.fairseq_tokenizers import read_tokenizer
from converters.fairseq_weights import OFFSET, OUTPUT, PADDING, read_weights, same
from converters.layout import build_transformer, keep_decoder_layers
from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.formats import Conversion
from specdec_cli.model.suppression import SUPPRESSED

_FILES = "*.pt"
# The defaults of fairseq-generate; a checkpoint does not store generation settings.
_GENERATION: Mapping[str, Any] = {"min_length": 1, "forced_end": True, "beam_size": 5, "beam_stop": "fairseq"}


def from_fairseq(
    path: Path, source_language: str = "", target_language: str = "", task: Task | None = None, decoder_layers: Sequence[int] | None = None
) -> Conversion:
    """Convert the fairseq checkpoint `path`, or the only one in the folder `path`; dictionary and subword files lie beside it.

    An empty language stands for the one in the checkpoint; a `task` of None means "translate". Of the decoder, only the layers
    `decoder_layers` (from 0; default: all) are kept. Raises ModelError for unreadable or missing files and, naming each of them, for
    settings that are not supported, and UsageError for an unknown language.
    """
    checkpoint = find_weights(path, path.glob(_FILES))
    settings, shape, weights = _read(checkpoint)
    if decoder_layers is not None:
        shape, weights = keep_decoder_layers(shape, weights, decoder_layers)
    rows = (shape.source_size, shape.vocabulary_size)
    tokenizer = read_tokenizer(checkpoint.parent, settings, (source_language, target_language), rows)
    pieces = (tokenizer.source_size, len(tokenizer))
    if pieces != rows:
        raise ModelError(f"{checkpoint}: {pieces} pieces for source and target, but the embeddings have {rows} rows")
    if tokenizer.special_tokens.start is not None:
        shape = replace(shape, decoder_start=tokenizer.special_tokens.start)
    source, target = tokenizer.languages
    info = BundleInfo(task=task or "translate", source_language=source, target_language=target, **_GENERATION)
    return Conversion(Bundle(info, tokenizer, build_transformer(shape, weights, strict=True)))


def is_fairseq(path: Path) -> bool:
    """Whether `path` is a `*.pt` file or a folder with one, and a dictionary file (`*dict*.txt`) lies beside that file."""
    found = [path] if path.is_file() and path.match(_FILES) else list(path.glob(_FILES))
    return bool(found) and any(found[0].parent.glob("*dict*.txt"))


def _read(checkpoint: Path) -> tuple[dict[str, Any], TransformerConfig, dict[str, Tensor]]:
    """Settings, shape and weights. Raises ModelError."""
    stored = read_pickle(checkpoint)
    if not isinstance(stored, dict) or not isinstance(stored.get("model"), dict):
        raise ModelError(f"{checkpoint}: not a fairseq checkpoint (no weights under 'model')")
    check_sizes(checkpoint, stored["model"])
    try:
        settings = read_settings(stored)
        check_supported(settings)
        weights = read_weights(stored["model"], settings)
        weights["output_bias"] = torch.zeros(len(weights["decoder.embed_tokens.weight"]))
        weights["output_bias"][PADDING] = SUPPRESSED
        return settings, _shape(settings, weights), weights
    except ModelError as error:
        raise ModelError(f"{checkpoint}: {error}") from error


def _shape(settings: Mapping[str, Any], weights: Mapping[str, Tensor]) -> TransformerConfig:
    """The shape of the model, from its settings and weights."""
    source, target = (weights[f"{side}.embed_tokens.weight"] for side in ("encoder", "decoder"))
    return TransformerConfig(
        vocabulary_size=len(target),
        source_vocabulary_size=0 if len(source) == len(target) else len(source),
        width=target.shape[1],
        feed_forward=settings["encoder_ffn_embed_dim"],
        heads=settings["encoder_attention_heads"],
        encoder_layers=settings["encoder_layers"],
        decoder_layers=settings["decoder_layers"],
        norm="pre" if settings["encoder_normalize_before"] else "post",
        activation=ACTIVATIONS[settings["activation_fn"]],  # type: ignore[arg-type]
        positions="learned",
        position_offset=OFFSET,
        max_positions=len(weights["decoder.embed_positions.weight"]) - OFFSET,
        embedding_scale=not settings.get("no_scale_embedding"),
        embedding_norm=bool(settings.get("layernorm_embedding")),
        shared_embeddings=same(source, target),
        tied_output=OUTPUT not in weights,
        output_bias=True,
        padding=PADDING,
        eos=SPECIAL.index("</s>"),
        decoder_start=SPECIAL.index("</s>"),
    )
