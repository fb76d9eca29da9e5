"""Reading and writing of weights, and construction of modules without random initial weights."""

import errno
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from specdec_cli.errors import ModelError, is_out_of_memory
from specdec_cli.files import check_regular, write_atomically

_DRAWING = ("uniform_", "normal_", "kaiming_uniform_")


class Uninitialized(TorchFunctionMode):
    """A context in which random initialisation is skipped, so that new tensors keep uninitialized memory."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call `function` and return its result; if it would fill a tensor with random numbers, return the tensor
        unchanged instead.
        """
        named = kwargs or {}
        if function.__name__ in _DRAWING:
            return args[0] if args else named["tensor"]
        return function(*args, **named)


Storage = Literal["float32", "float16", "int8"]
Written = Callable[[int, int], None]
"""Called while a file is written, with the number of bytes written so far and the size of the whole file."""


@dataclass
class LazyMatrix:
    """A matrix that is made when it is needed: the concatenation of `parts` along the first dimension, times a factor for each row (N,) and
    for each column (M,), if it has some.
    """

    parts: list[Tensor]
    rows: Tensor | None = None
    columns: Tensor | None = None

    def joined(self) -> Tensor:
        """The matrix (N, M), in the number format of its parts, or in float32 if it has factors."""
        matrix = torch.cat(self.parts)
        if self.rows is not None:
            matrix = matrix.float() * self.rows[:, None]
        return matrix if self.columns is None else matrix.float() * self.columns


Parts = dict[str, LazyMatrix]
"""What weights of a module are made of, by name, in place of those that the module holds."""
_SCALE = ".scale"
_ROWS = 4096
"""The rows of a tensor that are converted to their number format at a time."""
_BYTES = {"F32": 4, "F16": 2, "I8": 1}
"""The number formats that are written, and the bytes of a number."""
_FLOATS = ("F64", "F32", "F16", "BF16")


def unseen(done: int, total: int) -> None:
    """Ignore how many bytes are written."""


def save_weights(module: nn.Module, path: Path, storage: Storage, parts: Parts | None = None, written: Written = unseen) -> None:
    """Write the weights of `module` to `path` atomically, tied weights once. Those of which it has `parts` are joined one at a time.

    `storage` is the number format: "float32", "float16", or "int8", which stores matrices as int8 with a scale per
    row, and other tensors and tables of positions, with which nothing is multiplied, as float32.
    """
    tensors = _own_tensors(module)
    write_atomically(path, lambda partial: _write(tensors, parts or {}, partial, storage, written))


@torch.no_grad()
def join_parts(module: nn.Module, parts: Parts) -> None:
    """Make each of `parts` the parameter of `module` that it stands for, and remove it from `parts`."""
    while parts:
        name, matrix = parts.popitem()
        owner, _, kind = name.rpartition(".")
        setattr(module.get_submodule(owner), kind, nn.Parameter(matrix.joined()))


@torch.no_grad()
def _write(tensors: Mapping[str, Tensor], parted: Parts, path: Path, storage: Storage, written: Written) -> None:
    """Write a safetensors file some rows at a time, so that no second copy of the weights is in memory. Raises OSError, before anything is
    written, if the disk has not enough space for it.
    """
    parts = [part for name, value in tensors.items() for part in _parts(name, tuple(value.shape), storage)]
    # Formats of more bytes come first, so that each tensor begins at a multiple of its element's size.
    parts.sort(key=lambda part: _BYTES[part.dtype], reverse=True)
    ends = list(accumulate(math.prod(part.shape) * _BYTES[part.dtype] for part in parts))
    starts = dict(zip((part.name for part in parts), [0, *ends], strict=False))
    described = {
        part.name: {"dtype": part.dtype, "shape": part.shape, "data_offsets": [starts[part.name], end]}
        for part, end in zip(parts, ends, strict=True)
    }
    header = json.dumps(described, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    first = 8 + len(header)
    if (free := shutil.disk_usage(path.parent).free) < first + ends[-1]:
        needs = f"{os.strerror(errno.ENOSPC)}: {(first + ends[-1]) / 1e6:,.1f} MB are needed, and {free / 1e6:,.1f} MB are free"
        raise OSError(errno.ENOSPC, needs, str(path))
    done = first
    with path.open("wb") as stream:
        stream.write(len(header).to_bytes(8, "little") + header)
        for name, value in tensors.items():
            values = parted[name].joined() if name in parted else value.detach().reshape(value.shape or (1,))
            for row in range(0, len(values), _ROWS):
                for part, chunk in _compress(name, values[row : row + _ROWS].cpu().float(), storage).items():
                    numbers = chunk.contiguous().numpy()
                    stream.seek(first + starts[part] + row * numbers[0].nbytes)
                    stream.write(numbers.data)
                    done += numbers.nbytes
                written(done, first + ends[-1])


class _Part(NamedTuple):
    name: str
    dtype: str
    shape: tuple[int, ...]


def _parts(name: str, shape: tuple[int, ...], storage: Storage) -> list[_Part]:
    """The tensors as which one of this shape is stored."""
    if storage == "float16":
        return [_Part(name, "F16", shape)]
    if storage == "int8" and _is_product(name, len(shape)):
        return [_Part(name, "I8", shape), _Part(name + _SCALE, "F32", (shape[0], 1))]
    return [_Part(name, "F32", shape)]


def _is_product(name: str, dimensions: int) -> bool:
    """Whether a tensor is a matrix with which states are multiplied, or one of token embeddings; not of positions, absolute or relative."""
    return dimensions == 2 and not name.endswith(("positions", "bias.weight"))


def count_weights(path: Path) -> int:
    """The number of weights in a safetensors file, from its header. Raises ModelError if the file is missing or
    damaged.
    """
    with _opened(path) as stream:
        return sum(math.prod(stream.get_slice(name).get_shape()) for name in stream.keys())  # noqa: SIM118


def load_weights(module: nn.Module, path: Path) -> None:
    """Load the weights in `path` into `module`; float32 tensors are memory-mapped, not copied.

    Names, shapes and number formats are checked in the file's header before tensors are read. Raises ModelError that names the
    file and a tensor that is missing, unknown, of another shape, or not finite.
    """
    expected = _own_tensors(module)
    with _opened(path) as stream:
        _check_header(path, {name: stream.get_slice(name) for name in stream.keys()}, expected)  # noqa: SIM118
        for name, target in expected.items():
            value = stream.get_tensor(name)
            if value.dtype == torch.int8:
                value = value.float().mul_(stream.get_tensor(name + _SCALE))
            value = value.float()
            # The sum is not finite if a term is not. It takes a tenth of the time of isfinite() but can overflow on its own.
            if not math.isfinite(value.sum()) and not bool(value.isfinite().all()):
                raise ModelError(f"{path}: {name!r} holds values that are not finite")
            target.data = value


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a safetensors file. The library's errors are raised as ModelError that names the file."""
    check_regular(path, ModelError)
    try:
        with safe_open(path, "pt") as stream:
            yield stream
    except (OSError, SafetensorError) as error:
        if is_out_of_memory(error):
            raise
        raise ModelError(f"{path}: not readable as safetensors ({error})") from error


def _check_header(path: Path, stored: Mapping[str, Any], expected: Mapping[str, Tensor]) -> None:
    """Raise ModelError unless the `stored` tensors are the `expected` ones; int8 tensors need a scale per row."""
    integers = {name for name in stored if stored[name].get_dtype() == "I8"}
    wanted = expected.keys() | {name + _SCALE for name in integers & expected.keys()}
    missing, unknown = sorted(wanted - stored.keys()), sorted(stored.keys() - wanted)
    if missing or unknown:
        what = f"lacks {missing[0]!r}" if missing else f"holds {unknown[0]!r}, which the configuration does not define"
        raise ModelError(f"{path}: {what}")
    for name, tensor in stored.items():
        shape, kept = tuple(tensor.get_shape()), tuple(expected[name.removesuffix(_SCALE)].shape)
        asked = kept if name in expected else (*kept[:1], 1)
        if shape != asked:
            raise ModelError(f"{path}: {name!r} is {shape}, the configuration requires {asked}")
        if tensor.get_dtype() not in _FLOATS and not (name in integers & expected.keys() and len(shape) == 2):
            raise ModelError(f"{path}: {name!r} is stored as {tensor.get_dtype()}; known are {', '.join(_FLOATS)} and, for matrices, I8")


def _own_tensors(module: nn.Module) -> dict[str, Tensor]:
    """The state of `module`, with tied weights under their first name only."""
    seen: set[int] = set()
    tensors: dict[str, Tensor] = {}
    for name, value in module.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            tensors[name] = value
    return tensors


def _compress(name: str, value: Tensor, storage: Storage) -> dict[str, Tensor]:
    if storage == "float16":
        return {name: value.half()}
    if storage == "int8" and _is_product(name, value.dim()):
        scale = value.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        return {name: (value / scale).round().to(torch.int8), name + _SCALE: scale}
    return {name: value}
