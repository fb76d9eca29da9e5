"""The weights of a Marian model under fairseq's names."""

import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import torch
from numpy.lib import format
from torch import Tensor
from torch.nn import functional as F

from converters.checkpoints import check_archive
from specdec_cli.errors import ModelError
from specdec_cli.model.suppression import SUPPRESSED

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
        value = torch.from_numpy(array.astype(numpy.float32))
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
