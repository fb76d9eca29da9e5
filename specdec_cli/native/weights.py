"""Reading of safetensors files by memory mapping, without the safetensors library."""

import ctypes
import json
import math
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec_cli.errors import ModelError, is_out_of_memory
from specdec_cli.files import check_regular
from specdec_cli.native.library import HEADER, UnsupportedModel

_TYPES = {name.upper(): number for name, number in HEADER.enums["type"].items()}
"""The library's numbers for safetensors' names of number formats."""
_SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1}
_SCALE = ".scale"
_LENGTH = 8
LONGEST_HEADER = 100_000_000
"""Largest number of bytes in the header of a safetensors file, by the definition of the format."""


@dataclass(frozen=True)
class Stored:
    """A tensor as the header of its file describes it: `dtype` is safetensors' name of the number format ("F32",
    say), and its values are the bytes from `start` up to `end` (excluded), both counted from the beginning of the
    file.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


class Weights:
    """The tensors of the safetensors file at `path`, mapped into memory. Raises ModelError for a missing or
    malformed file.
    """

    def __init__(self, path: Path) -> None:
        check_regular(path, ModelError)
        self.path = path
        try:
            with path.open("rb") as stream:
                # A private mapping: ctypes takes addresses of writable memory alone. Nothing is written to it.
                self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)
        except (OSError, ValueError) as error:
            if is_out_of_memory(error):
                raise
            raise ModelError(f"{path}: not readable as safetensors ({error})") from error
        self.stored = _read_header(path, self._map)
        self._whole = (ctypes.c_char * len(self._map)).from_buffer(self._map)
        self._kept: list[Any] = []

    def count(self) -> int:
        """The number of values in the file, summed over all tensors."""
        return sum(math.prod(each.shape) for each in self.stored.values())

    def check_names(self, wanted: Mapping[str, tuple[int, ...]]) -> None:
        """Raise ModelError unless the file has exactly the tensors `wanted`, by name and shape, and a scale per row
        for each int8 tensor.
        """
        integers = {name for name in self.stored.keys() & wanted.keys() if self.stored[name].dtype == "I8"}
        expected = dict(wanted) | {name + _SCALE: (wanted[name][0], 1) for name in integers}
        missing, unknown = sorted(expected.keys() - self.stored.keys()), sorted(self.stored.keys() - expected.keys())
        if missing or unknown:
            what = f"lacks {missing[0]!r}" if missing else f"holds {unknown[0]!r}, which the configuration does not ask for"
            raise ModelError(f"{self.path}: {what}")
        for name, each in self.stored.items():
            if each.shape != expected[name]:
                raise ModelError(f"{self.path}: {name!r} is {each.shape}, the configuration asks for {expected[name]}")

    def tensor(self, name: str) -> Any:
        """The C structure for the tensor `name`; it is valid as long as this object exists. The library gives back its
        pages once it has read them.

        Raises UnsupportedModel if the library does not support its number format, and ModelError if its scales are
        not float32.
        """
        each = self.stored[name]
        scales = None
        if each.dtype not in _TYPES or (each.dtype == "I8" and len(each.shape) != 2):
            raise UnsupportedModel(
                f"{self.path}: {name!r} is stored as {each.dtype}; the native engine knows {', '.join(_TYPES)} (matrices alone)"
            )
        if each.dtype == "I8":
            scale = self.stored[name + _SCALE]
            if scale.dtype != "F32":
                raise ModelError(f"{self.path}: {name + _SCALE!r} is stored as {scale.dtype}; the native engine knows F32")
            own = (ctypes.c_float * each.shape[0]).from_buffer_copy(self._map, scale.start)
            self._kept.append(own)
            scales = ctypes.addressof(own)
        rows, columns = (*each.shape, 1)[:2]
        start = ctypes.addressof(self._whole) + each.start
        return HEADER.structs["tensor"](start, scales, rows, columns, _TYPES[each.dtype], mapped=1)


def _read_header(path: Path, data: mmap.mmap) -> dict[str, Stored]:
    length = int.from_bytes(data[:_LENGTH], "little")
    first = _LENGTH + length
    if len(data) < _LENGTH or length > min(LONGEST_HEADER, len(data) - _LENGTH):
        raise ModelError(f"{path}: not readable as safetensors (the header is longer than the file)")
    try:
        header = json.loads(data[_LENGTH:first])
        tensors = {name: _stored(each, first) for name, each in header.items() if name != "__metadata__"}
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: not readable as safetensors (the header is damaged)") from error
    place = first
    for name, each in sorted(tensors.items(), key=lambda item: (item[1].start, item[1].end)):
        if each.start != place or each.end - each.start != math.prod(each.shape) * _SIZES[each.dtype]:
            raise ModelError(f"{path}: not readable as safetensors ({name!r} is not where it should be)")
        place = each.end
    if place != len(data):
        raise ModelError(f"{path}: not readable as safetensors (it is {len(data)} bytes long, the header says {place})")
    return tensors


def _stored(values: Mapping[str, Any], first: int) -> Stored:
    start, end = values["data_offsets"]
    shape = tuple(values["shape"])
    if values["dtype"] not in _SIZES or not all(type(size) is int and size >= 0 for size in (start, end, *shape)):
        raise ValueError("not the description of a tensor")
    return Stored(values["dtype"], shape, first + start, first + end)
