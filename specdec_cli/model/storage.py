"""Reading and writing of weights, and construction of modules without random initial weights."""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
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
_SCALE = ".scale"
_OS_ERROR = re.compile(r"\(os error (\d+)\)")
_FLOATS = ("F64", "F32", "F16", "BF16")


def save_weights(module: nn.Module, path: Path, storage: Storage) -> None:
    """Write the weights of `module` to `path` atomically, tied weights once.

    `storage` is the number format: "float32", "float16", or "int8", which stores matrices as int8 with a scale per
    row, and other tensors and tables of positions, with which nothing is multiplied, as float32.
    """
    tensors: dict[str, Tensor] = {}
    for name, value in _own_tensors(module).items():
        tensors |= _compress(name, value.detach().cpu().contiguous(), storage)
    write_atomically(path, lambda partial: _save(tensors, partial))


def _save(tensors: dict[str, Tensor], path: Path) -> None:
    """Save `tensors`; raise OSError if the file cannot be written, in place of the library's own error."""
    try:
        save_file(tensors, path)
    except SafetensorError as error:
        number = _OS_ERROR.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


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
        shape, own = tuple(tensor.get_shape()), tuple(expected[name.removesuffix(_SCALE)].shape)
        asked = own if name in expected else (*own[:1], 1)
        if shape != asked:
            raise ModelError(f"{path}: {name!r} is {shape}, the configuration requires {asked}")
        if tensor.get_dtype() not in _FLOATS and not (name in integers & expected.keys() and len(shape) == 2):
            raise ModelError(f"{path}: {name!r} is stored as {tensor.get_dtype()}; known are {', '.join(_FLOATS)} and, for matrices, I8")


def _own_tensors(module: nn.Module) -> dict[str, Tensor]:
    """The state of `module`, with tied weights under their first name only."""
    seen: set[int] = set()
    own: dict[str, Tensor] = {}
    for name, value in module.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            own[name] = value
    return own


def _compress(name: str, value: Tensor, storage: Storage) -> dict[str, Tensor]:
    if storage == "float16":
        return {name: value.half()}
    if storage == "int8" and value.dim() == 2 and not name.endswith("positions"):
        scale = value.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        return {name: (value / scale).round().to(torch.int8), name + _SCALE: scale}
    return {name: value.float()}
