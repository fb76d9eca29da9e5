"""Reading of weight files of any toolkit, without executing code that a file contains."""

import argparse
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from specdec_cli.devices import free_memory
from specdec_cli.errors import ModelError
from specdec_cli.files import check_regular, read_json
from specdec_cli.model.hub import WEIGHT_FILES
from specdec_cli.model.storage import Storage

_INDEX = (("model.safetensors.index.json", "weight_map"), ("pytorch_model.bin.index.json", "weight_map"))
_MAX_UNPACKED_RATIO, _UNPACKED_ALLOWANCE = 20, 2**24
_WEIGHTS = (".safetensors", ".bin", ".npz", ".pt")
_SHARES: Mapping[Storage, float] = {"float32": 1, "float16": 0.5, "int8": 0.25}
"""The size of weights on disk, as a share of that in float32."""
_FOREIGN = re.compile(r"GLOBAL (\S+)")


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All weights of a Hugging Face model folder by name, stored in one file or several, mapped into memory where the format allows it;
    matrices in their number format, and vectors as float32.

    Raises ModelError if the folder has no weights, or a file of them is malformed or holds other objects.
    """
    for name in WEIGHT_FILES:
        if (folder / name).exists():
            return as_float(_read_one(folder / name))
    for name, key in _INDEX:
        if (folder / name).exists():
            parts = sorted(set(read_json(folder / name, ModelError).get(key, {}).values()))
            return {k: v for part in parts for k, v in as_float(_read_one(folder / part)).items()}
    raise ModelError(f"{folder}: no weights ({' or '.join(WEIGHT_FILES)})")


def read_pickle(path: Path, *, mapped: bool = False) -> Any:
    """Load a file that torch.save wrote, which may hold only tensors, plain Python values and argparse.Namespace. `mapped`: tensors are the
    mapped file, if it is an archive, and the file must not be written while they are used.

    Raises ModelError for a file that cannot be read, and for one with objects of another class, because loading them could run code.
    """
    check_archive(path)
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped and zipfile.is_zipfile(path))
    except Exception as error:  # torch, pickle and zipfile raise exceptions of many classes
        foreign, reason = _FOREIGN.search(str(error)), str(error).partition("\n")[0]
        if foreign:
            raise ModelError(f"{path}: holds {foreign[1]}; only weights and plain values are loaded") from error
        if "weights_only" in reason:  # torch's message advises to load the file unsafely, so it is not shown
            raise ModelError(f"{path}: holds other objects; only weights and plain values are loaded") from error
        raise ModelError(f"{path}: not readable as weights and plain values ({reason or type(error).__name__})") from error


def check_archive(path: Path) -> None:
    """Raise ModelError for a zip archive whose members, unpacked, would be far larger than the file, and could fill the memory.

    The limit is 20 times the size of the file plus 16 MiB, because weights do not compress well. A file that is not a zip archive
    is accepted. Raises ModelError also for a path that is not a regular file, and for an unreadable archive.
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
    if claimed > _MAX_UNPACKED_RATIO * size + _UNPACKED_ALLOWANCE:
        raise ModelError(f"{path}: the members claim {claimed} bytes, but the file has {size}")


def check_sizes(path: Path, weights: Mapping[str, Any]) -> None:
    """Raise ModelError, naming file and tensor, if the shape of a tensor has more elements than its storage."""
    for name, value in weights.items():
        if isinstance(value, Tensor) and value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise ModelError(f"{path}: {name!r} has shape {tuple(value.shape)}, but fewer values are stored")


def check_memory(path: Path) -> None:
    """Raise ModelError, before anything is read, if the machine has less free memory than a conversion of the model at `path` needs: 1.25
    times the size of its weights, and 0.4 GB.
    """
    needed, free = 1.25 * _weight_bytes(path) + 4e8, free_memory("cpu")
    if 0 < free < needed:
        raise ModelError(f"{path}: its conversion needs {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free")


def check_disk(path: Path, output: Path, storage: Storage) -> None:
    """Raise ModelError, before anything is read, if the disk of `output` has less space than the converted weights of the model at `path`
    take at least, which is if those of `path` are in float32.
    """
    existing = next(folder for folder in (output, *output.absolute().parents) if folder.exists())
    needed, free = _weight_bytes(path) * _SHARES[storage], shutil.disk_usage(existing).free
    if free < needed:
        needs = f"at least {needed / 1e9:.1f} GB of disk space, and {free / 1e9:.1f} GB are free in {existing}"
        raise ModelError(f"{path}: its conversion needs {needs}")


def _weight_bytes(path: Path) -> int:
    folder = path if path.is_dir() else path.parent
    sizes = Counter[str]()
    for file in folder.iterdir():
        if file.suffix in _WEIGHTS and file.is_file():
            sizes[file.suffix] += file.stat().st_size
    return max(sizes.values(), default=0)  # a folder may have the same weights in two formats, of which one is read


def find_weights(path: Path, inside: Iterable[Path], expected: str) -> Path:
    """`path` if it is a file; if it is a folder, the only element of `inside`, the weight files found in it.

    Raises ModelError for a folder with several weight files or none; `expected` says in words which file should be there.
    """
    found = [path] if path.is_file() else sorted(inside)
    if len(found) != 1:
        several = f"several models ({', '.join(each.name for each in found)}); name one"
        raise ModelError(f"{path}: {several if found else f'no model; {expected} is expected in this folder'}")
    return found[0]


def _read_one(path: Path) -> dict[str, Tensor]:
    if path.suffix != ".safetensors":
        values = read_pickle(path, mapped=True)
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


def as_float(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights with vectors as float32; matrices keep their number format, so that those of a mapped file are not read yet."""
    return {name: value.float() if value.is_floating_point() and value.dim() < 2 else value for name, value in weights.items()}
