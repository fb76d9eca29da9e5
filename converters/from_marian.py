"""Models of Marian's (those of OPUS-MT among them) as bundles, from an npz file and what lies beside it; Marian is not needed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from converters.checkpoints import find_weights
from converters.conversion import Conversion
from converters.layout import build_transformer, keep_decoder_layers
from converters.marian_settings import ACTIVATIONS, embedding_norm, norm, read_settings, refuse
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
from specdec_cli.model.config import TransformerConfig

_POSITIONS = 512
"""How many positions a bundle gets: Marian computes them without end, transformers' conversions have as many."""


def from_marian(
    path: Path, source_language: str = "", target_language: str = "", task: str = "", decoder_layers: Sequence[int] | None = None
) -> Conversion:
    """The model `path`, or the only one in the folder `path`, with vocabularies from its folder.

    `target_language` must be given where the model knows several; `decoder_layers` keeps these of the decoder. Our norms
    add 1e-5 to a variance, as transformers' do, Marian's 1e-6. Raises ModelError naming all that is not supported, at once,
    and UsageError for a language that the model does not know.
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
    """Whether `path` is a model of Marian's, or a folder with such."""
    found = [path] if path.is_file() else _models(path)
    return bool(found) and has_configuration(found[0])


def _models(folder: Path) -> list[Path]:
    """The model that decoder.yml names, else every npz file with a configuration (or the only one, whatever it holds)."""
    listed = [folder / Path(str(name)).name for name in read_decoding(folder).get("models") or []]
    found = [path for path in listed if path.is_file()] or sorted(folder.glob("*.npz"))
    return found if len(found) == 1 else [path for path in found if has_configuration(path)]


def _read(model: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Settings, and weights by fairseq's names, with positions. Raises ModelError."""
    arrays = read_arrays(model)
    if CONFIGURATION not in arrays:
        raise ModelError(f"{model}: not a model of Marian's (no {CONFIGURATION})")
    try:
        settings = read_settings(arrays[CONFIGURATION].tobytes())
        refuse(settings)
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
