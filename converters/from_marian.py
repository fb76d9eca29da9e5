"""Conversion of Marian models (such as OPUS-MT) to bundles; Marian need not be installed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from converters.checkpoints import find_weights
from converters.layout import build_transformer, keep_decoder_layers
from converters.marian_settings import ACTIVATIONS, check_supported, embedding_norm, norm, read_settings
from converters.marian_vocabularies import EOS, UNKNOWN, find_vocabularies, make_tokenizer, read_decoding, read_vocabulary
from converters.marian_weights import (
    CONFIGURATION,
    EMBEDDINGS,
    OUTPUT,
    SOURCE_EMBEDDINGS,
    add_start,
    fairseq_names,
    has_configuration,
    read_arrays,
)
from converters.positions import tensor2tensor_sinusoids
from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.formats import Conversion

_POSITIONS = 512
"""The largest number of tokens for a converted model. Marian has no limit; 512 is the limit of the same models at Hugging Face."""


def from_marian(
    path: Path, source_language: str = "", target_language: str = "", task: Task | None = None, decoder_layers: Sequence[int] | None = None
) -> Conversion:
    """Convert the Marian model in the npz file `path`, or the only one in the folder `path`; vocabularies lie beside it.

    `target_language` is required for a model of several target languages. A `task` of None means "translate". Of the decoder, only
    the layers `decoder_layers` (from 0; default: all) are kept. The converted layer norms have an epsilon of 1e-5 (as in
    transformers), Marian's have 1e-6. Raises ModelError for unreadable or missing files and, naming each of them, for options that
    are not supported, and UsageError for an unknown language.
    """
    model = find_weights(path, _models(path))
    settings, weights = _read(model)
    files = find_vocabularies(model.parent)
    vocabularies = [read_vocabulary(file) for file in files]
    for file, pieces, name in zip(files, vocabularies, (SOURCE_EMBEDDINGS, EMBEDDINGS), strict=True):
        if len(pieces) > len(weights[name]):
            raise ModelError(f"{file}: {len(pieces)} pieces, but {model} has embeddings of {len(weights[name])}")
        if EOS not in pieces or UNKNOWN not in pieces:
            raise ModelError(f"{file}: no {EOS} or no {UNKNOWN}")
    shared = weights[SOURCE_EMBEDDINGS] is weights[EMBEDDINGS]
    weights, start = add_start(weights, vocabularies[1].index(UNKNOWN))
    tokenizer = make_tokenizer(model.parent, files, vocabularies, start, (source_language, target_language))
    shape = _shape(settings, weights, shared, vocabularies[1].index(EOS), start)
    if decoder_layers is not None:
        shape, weights = keep_decoder_layers(shape, weights, decoder_layers)
    info = BundleInfo(task=task or "translate", source_language=source_language, target_language=target_language)
    return Conversion(Bundle(info, tokenizer, build_transformer(shape, weights, strict=True)))


def is_marian(path: Path) -> bool:
    """Whether `path` is an npz file with a Marian configuration, or a folder with such a file."""
    found = [path] if path.is_file() else _models(path)
    return bool(found) and has_configuration(found[0])


def _models(folder: Path) -> list[Path]:
    """The models that decoder.yml names, else the only npz file, else the npz files that hold a Marian configuration."""
    listed = [folder / Path(str(name)).name for name in read_decoding(folder).get("models") or []]
    found = [path for path in listed if path.is_file()] or sorted(folder.glob("*.npz"))
    return found if len(found) == 1 else [path for path in found if has_configuration(path)]


def _read(model: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The settings, and the weights under fairseq's names with position tables added. Raises ModelError."""
    arrays = read_arrays(model)
    if CONFIGURATION not in arrays:
        raise ModelError(f"{model}: not a Marian model (no {CONFIGURATION})")
    try:
        settings = read_settings(arrays[CONFIGURATION].tobytes())
        check_supported(settings)
        weights = fairseq_names(arrays)
    except ModelError as error:
        raise ModelError(f"{model}: {error}") from error
    table = tensor2tensor_sinusoids(_POSITIONS, weights[EMBEDDINGS].shape[1])
    return settings, weights | {f"{side}.embed_positions.weight": table for side in ("encoder", "decoder")}


def _shape(settings: Mapping[str, Any], weights: Mapping[str, Tensor], shared: bool, eos: int, start: int) -> TransformerConfig:
    return TransformerConfig(
        vocabulary_size=start + 1,
        width=weights[EMBEDDINGS].shape[1],
        feed_forward=settings["transformer-dim-ffn"],
        heads=settings["transformer-heads"],
        encoder_layers=settings["enc-depth"],
        decoder_layers=settings["dec-depth"],
        norm=norm(settings) or "post",
        activation=ACTIVATIONS[settings.get("transformer-ffn-activation", "swish")],  # type: ignore[arg-type]
        positions="learned",
        max_positions=_POSITIONS,
        embedding_scale=True,
        embedding_norm=embedding_norm(settings),
        shared_embeddings=shared,
        tied_output=OUTPUT not in weights,
        output_bias=True,
        padding=start,
        eos=eos,
        decoder_start=start,
    )
