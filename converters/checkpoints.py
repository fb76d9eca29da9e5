"""Weights on disk, whoever wrote them; nothing that could run is ever loaded."""

import argparse
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from specdec_cli.errors import ModelError
from specdec_cli.files import check_regular, read_json

_INDEX = (("model.safetensors.index.json", "weight_map"), ("pytorch_model.bin.index.json", "weight_map"))
WHOLE = ("model.safetensors", "pytorch_model.bin")
_MOST_SHRUNK, _SMALL = 20, 2**24
_FOREIGN = re.compile(r"GLOBAL (\S+)")


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All weights in a folder of transformers', in one file or in several, as float32. Raises ModelError."""
    for name in WHOLE:
        if (folder / name).exists():
            return _as_float(_read_one(folder / name))
    for name, key in _INDEX:
        if (folder / name).exists():
            parts = sorted(set(read_json(folder / name, ModelError).get(key, {}).values()))
            return {k: v for part in parts for k, v in _as_float(_read_one(folder / part)).items()}
    raise ModelError(f"{folder}: no weights ({' or '.join(WHOLE)})")


def read_pickle(path: Path) -> Any:
    """A file of torch.save's: tensors, plain values, and argparse's namespaces, nothing else.

    Raises ModelError for a file that holds another class, which could run code when it is loaded.
    """
    check_archive(path)
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch, pickle and zipfile raise all kinds
        foreign, reason = _FOREIGN.search(str(error)), str(error).partition("\n")[0]
        if foreign:
            raise ModelError(f"{path}: holds {foreign[1]}, and nothing but weights and plain values is ever loaded") from error
        if "weights_only" in reason:  # torch goes on to say how to load it none the less
            raise ModelError(f"{path}: holds something else than weights and plain values, and that is never loaded") from error
        raise ModelError(f"{path}: not readable as weights and plain values ({reason or type(error).__name__})") from error


def check_archive(path: Path) -> None:
    """Refuse an archive whose members are said to be far larger than the file: unpacked, it could fill the memory.

    Weights hardly shrink when they are compressed. A file that is no archive passes. Raises ModelError.
    """
    check_regular(path, ModelError)
    try:
        if not zipfile.is_zipfile(path):
            return
        with zipfile.ZipFile(path) as archive:
            claimed = sum(member.file_size for member in archive.infolist())
    except (OSError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path}: not readable as an archive ({error})") from error
    size = path.stat().st_size
    if claimed > _MOST_SHRUNK * size + _SMALL:
        raise ModelError(f"{path}: its members are said to have {claimed} bytes, the file has {size}")


def check_sizes(path: Path, weights: Mapping[str, Any]) -> None:
    """Refuse tensors that claim more values than are stored for them. Raises ModelError."""
    for name, value in weights.items():
        if isinstance(value, Tensor) and value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise ModelError(f"{path}: {name!r} is said to be {tuple(value.shape)}, and fewer values are stored")


def find_weights(path: Path, inside: Iterable[Path]) -> Path:
    """`path` itself, or where that is a folder the one file that is `inside`. Raises ModelError."""
    found = [path] if path.is_file() else sorted(inside)
    if len(found) != 1:
        what = f"several models ({', '.join(each.name for each in found)}); name one" if found else "no model"
        raise ModelError(f"{path}: {what}")
    return found[0]


def _read_one(path: Path) -> dict[str, Tensor]:
    if path.suffix != ".safetensors":
        values = read_pickle(path)
        if not isinstance(values, dict):
            raise ModelError(f"{path}: expected weights by name")
        check_sizes(path, values)
        return {str(name): value for name, value in values.items() if isinstance(value, Tensor)}
    check_regular(path, ModelError)
    try:
        with safe_open(path, "pt") as stream:
            return {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path}: not readable as safetensors ({error})") from error


def _as_float(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.float() if value.is_floating_point() else value for name, value in weights.items()}
