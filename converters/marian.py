"""Conversion of Marian models (such as OPUS-MT) to bundles; Marian need not be installed."""

import json
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import torch
import yaml
from numpy.lib import format
from torch import Tensor
from torch.nn import functional as F

from converters.checkpoints import check_archive, find_weights
from converters.conversion import Conversion
from converters.layout import build_transformer, keep_decoder_layers, tensor2tensor_sinusoids
from converters.vocabularies import fill_unused, pieces_by_id
from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.choices import SUPPRESSED
from specdec_cli.model.config import Norm, TransformerConfig
from specdec_cli.text.tokenize.converted import TARGET, ConvertedTokenizer, TokenizerConfig, make_segmenter
from specdec_cli.text.tokenize.sentencepiece import load_sentencepiece, pieces_of

ACTIVATIONS = {"swish": "silu", "relu": "relu"}
"""The supported activations: specdec's name by Marian's. Marian's gelu, x * sigmoid(1.702 x), differs from PyTorch's."""

_NEEDED = ("enc-depth", "dec-depth", "transformer-heads", "transformer-dim-ffn")
# The supported values of options, Marian's default first.
_EXPECTED: Mapping[str, tuple[Any, ...]] = {
    "type": ("transformer",),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-ffn-activation": tuple(ACTIVATIONS),
    "transformer-ffn-depth": (2,),
    "transformer-decoder-ffn-depth": (0, 2),
    "transformer-no-projection": (False,),
    "transformer-no-bias": (False,),
    "transformer-no-affine": (False,),
    "transformer-pool": (False,),
    "transformer-tied-layers": ([], None),
    "transformer-train-position-embeddings": (False,),
    "transformer-train-positions": (False,),
    "right-left": (False,),
    "ulr": (False,),
    "ulr-dim-emb": (0,),
    "lemma-dim-emb": (0,),
    "factors-dim-emb": (0,),
}
# Operations before a layer, after a layer, and after the last layer, which determine the positions of the norms.
_OPERATIONS = {"transformer-preprocess": "", "transformer-postprocess": "dan", "transformer-postprocess-top": ""}
_EMBEDDED = "transformer-postprocess-emb"
_NORMS: Mapping[tuple[str, ...], Norm] = {("", "an", ""): "post", ("n", "a", "n"): "pre"}


def read_settings(text: bytes) -> dict[str, Any]:
    """Parse the options of a Marian model by name; `text` is the content of `special:model.yml`, which ends with a NUL byte.

    Raises ModelError if it is not a mapping in YAML.
    """
    try:
        found = yaml.safe_load(text.rstrip(b"\0").decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"its configuration is not readable as YAML ({error})") from error
    if not isinstance(found, dict):
        raise ModelError("its configuration is not a mapping of options")
    return {str(name): value for name, value in found.items()}


def check_supported(settings: Mapping[str, Any]) -> None:
    """Raise ModelError, naming each of them, if options of a Marian model are missing or not supported by specdec."""
    problems = [f"no {name}" for name in _NEEDED if not settings.get(name)]
    for name, known in _EXPECTED.items():
        if settings.get(name, known[0]) not in known:
            problems.append(f"{name} {settings[name]!r} (supported: {', '.join(map(repr, known))})")
    if norm(settings) is None:
        problems.append(f"the operations {', '.join(f'{name} {settings.get(name, default)!r}' for name, default in _OPERATIONS.items())}")
    if _without_dropout(settings, _EMBEDDED, "d") not in ("", "n"):
        problems.append(f"{_EMBEDDED} {settings[_EMBEDDED]!r}")
    sizes = settings.get("dim-vocabs") or [0, 0]
    if len(sizes) != 2:
        problems.append(f"{len(sizes)} vocabularies (supported: 2)")
    of_decoder, of_both = settings.get("transformer-decoder-dim-ffn"), settings.get("transformer-dim-ffn")
    if of_decoder and of_decoder != of_both:
        problems.append(f"feed-forward sizes that differ between encoder ({of_both}) and decoder ({of_decoder})")
    if problems:
        raise ModelError(f"not supported: {'; '.join(problems)}")


def norm(settings: Mapping[str, Any]) -> Norm | None:
    """The position of the layer norms in a Marian model: "pre" (before a sublayer) or "post" (after it); None for any other."""
    return _NORMS.get(tuple(_without_dropout(settings, name, default) for name, default in _OPERATIONS.items()))


def embedding_norm(settings: Mapping[str, Any]) -> bool:
    """Whether a layer norm follows the embeddings in a Marian model with these options."""
    return _without_dropout(settings, _EMBEDDED, "d") == "n"


def _without_dropout(settings: Mapping[str, Any], name: str, default: str) -> str:
    return str(settings.get(name, default) or "").replace("d", "")


EOS, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"

_PIECES = ("source.spm", "target.spm")
# File names of the source and the target vocabulary; a pattern must match exactly one file.
_PATTERNS = (
    ("*.src.vocab.yml", "*.trg.vocab.yml"),
    ("*vocab.yml", "*vocab.yml"),
    ("vocab*.spm", "vocab*.spm"),
    _PIECES,
)
_ESCAPED = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "_": "\xa0", "N": "\x85"}


def read_decoding(folder: Path) -> dict[str, Any]:
    """The content of decoder.yml in `folder`, which names the files of `models` and `vocabs`; empty if there is no such file.

    Raises ModelError if it is not readable as YAML.
    """
    path = folder / "decoder.yml"
    if not path.exists():
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise ModelError(f"{path}: not readable as YAML ({error})") from error
    return found if isinstance(found, dict) else {}


def find_vocabularies(folder: Path) -> tuple[Path, Path]:
    """The files of the source and the target vocabulary: those that decoder.yml names, else those of a usual name.

    Raises ModelError if there are none, or several with a usual name.
    """
    listed = [folder / Path(str(name)).name for name in read_decoding(folder).get("vocabs") or []]
    if len(listed) == 2 and all(path.exists() for path in listed):
        return listed[0], listed[1]
    for names in _PATTERNS:
        found = [list(folder.glob(name)) for name in names]
        if all(len(paths) == 1 for paths in found):
            return found[0][0], found[1][0]
    raise ModelError(f"{folder}: no vocabularies, or several (vocab.spm, {' with '.join(_PIECES)}, or vocab.yml with those two)")


def read_vocabulary(path: Path) -> list[str]:
    """The pieces in the order of their ids, from a SentencePiece model (.spm) or a mapping of pieces to ids in YAML or JSON.

    Raises ModelError for an unreadable or malformed file.
    """
    if path.suffix == ".spm":
        return pieces_of(load_sentencepiece(path), path)
    try:
        text = path.read_text(encoding="utf-8")
        return pieces_by_id(
            {str(piece): int(number) for piece, number in json.loads(text).items()} if text.startswith("{") else _ids(path, text)
        )
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: not readable as a vocabulary ({error})") from error


def make_tokenizer(
    folder: Path, files: tuple[Path, Path], vocabularies: Sequence[Sequence[str]], start: int, pair: tuple[str, str]
) -> ConvertedTokenizer:
    """A SentencePiece tokenizer with the source and target `vocabularies`, filled up with placeholders to `start` pieces each.

    The id `start` is padding. `files` are the vocabulary files, `pair` the source and the target language. Raises ModelError if the
    SentencePiece models are not in `folder`, and UsageError for a language that is missing or unknown.
    """
    source, target = ([*fill_unused(pieces, start), PADDING] for pieces in vocabularies)
    names = [path.name for path in files] if files[0].suffix == ".spm" else list(_PIECES)
    absent = [name for name in names if not (folder / name).exists()]
    if absent:
        raise ModelError(f"{folder}: no {' and no '.join(absent)}, the SentencePiece models for {files[0].name}")
    languages = {piece[2:-2]: piece for piece in source if piece.startswith(">>") and piece.endswith("<<")}
    config = TokenizerConfig(
        kind="sentencepiece",
        files=tuple(names),
        unknown=UNKNOWN,
        mask=PADDING,
        before=(TARGET,) if languages else (),
        after=(EOS,),
        hidden=(EOS, UNKNOWN, PADDING),
        languages=languages,
    )
    segmenter = make_segmenter(config, folder, pair[0], pair[1], target)
    return ConvertedTokenizer(config, segmenter, target, None if source == target else source, pair[0], pair[1], folder)


def _ids(path: Path, text: str) -> Mapping[str, int]:
    """Parse lines `piece: id`, and pairs of lines `? piece` and `: id`, as which YAML writers write long pieces. A YAML parser would read
    some pieces as numbers, merge keys or line breaks.
    """
    ids: dict[str, int] = {}
    long = ""  # what follows the `?` of the line before
    for number, line in enumerate(text.split("\n"), start=1):
        if not long and (not line.strip() or line.strip() == "---"):
            continue
        if not long and line.startswith("? "):
            long = line[2:].strip()
            continue
        piece, colon, count = line.rstrip().rpartition(":")
        if not colon or not count.strip().isdecimal() or (long and piece):
            raise ModelError(f"{path}, line {number}: expected {'the id of a piece' if long else 'a piece and its id'}, found {line!r}")
        ids[_unquoted(long or piece.strip(" "))] = int(count)
        long = ""
    if long:
        raise ModelError(f"{path}: no id behind its last piece, {long!r}")
    return ids


def _unquoted(piece: str) -> str:
    if len(piece) > 1 and piece[0] == piece[-1] == "'":
        return piece[1:-1].replace("''", "'")
    if len(piece) > 1 and piece[0] == piece[-1] == '"':
        return _ESCAPED.sub(lambda found: chr(int(found[1][1:], 16)) if found[1][1:] else _PLAIN.get(found[1], found[1]), piece[1:-1])
    return piece


CONFIGURATION = "special:model.yml"
SOURCE_EMBEDDINGS, EMBEDDINGS = "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"
OUTPUT, OUTPUT_BIAS = "decoder.output_projection.weight", "output_bias"

_LAYER = re.compile(r"(encoder|decoder)_l(\d+)_(.+)")
# Marian stores weight matrices as (in, out), except embeddings and names that end with t.
_TRANSPOSED = re.compile(r".*_W[qkvo12]?")
_PRODUCTS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}


def read_arrays(path: Path) -> dict[str, numpy.ndarray[Any, Any]]:
    """The arrays of an npz file by name. Raises ModelError for a malformed file, and for arrays of objects (loading could run code)."""
    check_archive(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return {member.filename.removesuffix(".npy"): _read_array(archive, member) for member in archive.infolist()}
    except Exception as error:  # numpy and zipfile raise exceptions of many classes
        raise ModelError(f"{path}: not readable as arrays ({error})") from error


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> numpy.ndarray[Any, Any]:
    """Read one array. Raises ValueError if the size in its header differs from that of the archive member."""
    with archive.open(member) as stream:
        version = format.read_magic(stream)
        read_header = format.read_array_header_1_0 if version == (1, 0) else format.read_array_header_2_0
        shape, _, kind = read_header(stream)
        claimed, stored = math.prod(shape) * kind.itemsize, member.file_size - stream.tell()
    if claimed != stored and not kind.hasobject:
        raise ValueError(f"{member.filename} claims to be {shape} of {kind}, but has {stored} bytes")
    with archive.open(member) as stream:
        array: numpy.ndarray[Any, Any] = format.read_array(stream, allow_pickle=False)
        return array


def has_configuration(path: Path) -> bool:
    """Whether `path` is an npz file with a Marian configuration (`special:model.yml`)."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{CONFIGURATION}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def fairseq_names(arrays: Mapping[str, numpy.ndarray[Any, Any]]) -> dict[str, Tensor]:
    """The weights of a Marian model as float32 tensors under fairseq's names: matrices (outputs, inputs), vectors (n,).

    Arrays without a fairseq name keep their names. Raises ModelError if there are no embeddings.
    """
    weights: dict[str, Tensor] = {}
    for name, array in arrays.items():
        if name.startswith("special:"):
            continue
        value = torch.from_numpy(array.astype(numpy.float32, copy=False))
        if len(value.squeeze().shape) < 2:
            value = value.flatten()
        weights |= dict.fromkeys(_names(name), value.T if _TRANSPOSED.fullmatch(name) else value)
    if SOURCE_EMBEDDINGS not in weights or EMBEDDINGS not in weights:
        raise ModelError("no embeddings (Wemb, or encoder_Wemb and decoder_Wemb)")
    return weights


def add_start(weights: Mapping[str, Tensor], unknown: int) -> tuple[dict[str, Tensor], int]:
    """Add a row of zeros, Marian's decoder start, to the embeddings; return the new weights and the id of the row.

    Source and target embeddings are first padded with zeros to the same length, so that the id means decoder start and padding on
    both sides. The output bias of the added rows and of the piece with the id `unknown` is so low that they are never emitted, as
    in Marian; added rows also have a probability of 0.
    """
    tables = [name for name in (SOURCE_EMBEDDINGS, EMBEDDINGS, OUTPUT) if name in weights]
    start = max(len(weights[name]) for name in tables)
    longer = {name: F.pad(weights[name], (0, 0, 0, start + 1 - len(weights[name]))) for name in tables}
    bias = weights.get(OUTPUT_BIAS, torch.zeros(len(weights[EMBEDDINGS])))
    bias = F.pad(bias, (0, start + 1 - len(bias)), value=2 * SUPPRESSED)
    bias[unknown] += SUPPRESSED
    return {**weights, **longer, OUTPUT_BIAS: bias}, start


def _names(name: str) -> tuple[str, ...]:
    """The fairseq names of a Marian array: one, or two for an array shared by encoder and decoder."""
    layer = _LAYER.fullmatch(name)
    if layer and layer[3] in _IN_LAYER:
        return (f"{layer[1]}.layers.{int(layer[2]) - 1}.{_IN_LAYER[layer[3]]}",)
    return _OUTSIDE.get(name, (name,))


def _norm(theirs: str, ours: str) -> dict[str, str]:
    parts = (("scale", "weight"), ("bias", "bias"))
    return {f"{theirs}_ln_{part}{place}": f"{ours}.{own}" for part, own in parts for place in ("", "_pre")}


def _linear(theirs: str, letter: str, ours: str) -> dict[str, str]:
    return {f"{theirs}_W{letter}": f"{ours}.weight", f"{theirs}_b{letter}": f"{ours}.bias"}


def _in_layer() -> dict[str, str]:
    names = _norm("ffn_ffn", "final_layer_norm") | _linear("ffn", "1", "fc1") | _linear("ffn", "2", "fc2")
    for theirs, ours in (("self", "self_attn"), ("context", "encoder_attn")):
        names |= _norm(f"{theirs}_Wo", f"{ours}_layer_norm")
        for letter, product in _PRODUCTS.items():
            names |= _linear(theirs, letter, f"{ours}.{product}")
    return names


def _outside() -> dict[str, tuple[str, ...]]:
    norms: dict[str, str] = {}
    for side in ("encoder", "decoder"):
        norms |= _norm(f"{side}_emb", f"{side}.layernorm_embedding") | _norm(f"{side}_top", f"{side}.layer_norm")
    return {theirs: (ours,) for theirs, ours in norms.items()} | {
        "Wemb": (SOURCE_EMBEDDINGS, EMBEDDINGS),
        "encoder_Wemb": (SOURCE_EMBEDDINGS,),
        "decoder_Wemb": (EMBEDDINGS,),
        "decoder_ff_logit_out_W": (OUTPUT,),
        "decoder_ff_logit_out_Wt": (OUTPUT,),
        "decoder_ff_logit_out_b": (OUTPUT_BIAS,),
    }


_IN_LAYER, _OUTSIDE = _in_layer(), _outside()


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
    model = find_weights(path, _models(path), "an npz file of Marian with its settings")
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
    verifier, parts = build_transformer(shape, weights, strict=True)
    return Conversion(Bundle(info, tokenizer, verifier), parts=parts)


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
