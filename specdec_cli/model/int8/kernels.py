"""The compiled kernels: built once by the machine's own C compiler, kept in the cache folder, never needed to run."""

import ctypes
import os
import shutil
import subprocess
import tempfile
import threading
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from specdec_cli.files import cache_folder
from specdec_cli.remembered import fingerprint

SOURCE, TEAM = (Path(__file__).with_name(name) for name in ("kernels.c", "team.h"))
LANES = 16
"""Widths must be multiples of this."""
TILE = 64
"""Outputs that are computed together; weights are packed by so many."""
MOST_CANDIDATES = 32
"""Candidates of a slot that a walk can choose from."""
WORTH_SHARING = 8_000_000
"""Multiplications from which on more than one thread is used: waiting for one that the system let sleep can take milliseconds."""
LOOKING = 10
"""Multiplications that looking at a number counts as."""
ACTIVATIONS = {"none": 0, "relu": 1, "gelu": 2, "silu": 3}
_COMPILERS = (os.environ.get("CC") or "cc", "gcc", "clang")
_FLAGS = ("-O3", "-march=native", "-pthread", "-fPIC", "-shared", "-Wall", "-Wextra")
_pointer, _number = ctypes.c_void_p, ctypes.c_int64


class LinearStruct(ctypes.Structure):
    """`struct linear` of the kernels."""

    _fields_ = (
        ("inputs", _number),
        ("outputs", _number),
        *((name, _pointer) for name in ("weights", "scales", "sums", "bias", "gamma", "beta")),
        ("epsilon", ctypes.c_float),
        ("activation", ctypes.c_int32),
    )


class NormStruct(ctypes.Structure):
    """`struct norm` of the kernels."""

    _fields_ = (("gamma", _pointer), ("beta", _pointer), ("epsilon", ctypes.c_float))


class LayerStruct(ctypes.Structure):
    """`struct layer` of the kernels."""

    _fields_ = (
        ("heads", _number),
        ("width", _number),
        *((name, _pointer) for name in ("query_key_value", "output", "query", "cross_output", "inner", "outer")),
        *((name, NormStruct) for name in ("after_attention", "after_cross_attention", "after_feed_forward")),
    )


class KeysStruct(ctypes.Structure):
    """`struct keys` of the kernels."""

    _fields_ = (
        ("keys", _pointer),
        ("values", _pointer),
        ("stride", _number),
        ("row_stride", _number),
        ("ends", _pointer),
        ("end_stride", _number),
        ("end_row_stride", _number),
        ("packed", _number),
    )


class RowsStruct(ctypes.Structure):
    """`struct rows` of the kernels."""

    _fields_ = (("number", _number), ("starts", _pointer))


class ChainStruct(ctypes.Structure):
    """`struct chain` of the kernels."""

    _fields_ = (
        *((name, _number) for name in ("vocabulary", "width", "candidates")),
        *((name, _pointer) for name in ("before", "after", "unknown")),
    )


class Kernels:
    """The functions of a compiled library, on as many threads as torch has, with room to work in for each caller."""

    def __init__(self, library: ctypes.CDLL) -> None:
        arguments = {
            "specdec_linear": [_pointer, _pointer, _number, _pointer, _pointer, ctypes.c_int],
            "specdec_layers": [_pointer, _number, *[_pointer] * 7, ctypes.c_int],
            "specdec_embed": [_pointer, _pointer, ctypes.c_float, _number, _pointer, _pointer, _number, _number, _pointer],
            "specdec_largest": [_pointer, _number, _number, _pointer, ctypes.c_int],
            "specdec_log_probabilities": [_pointer, _number, _number, _pointer, _pointer, ctypes.c_int],
            "specdec_chain": [_pointer, _pointer, _pointer, _number, _number, _pointer, _pointer, ctypes.c_int],
        }
        for name, types in arguments.items():
            function = getattr(library, name)
            function.argtypes, function.restype = types, None
        self.linear, self.layers, self.chain = library.specdec_linear, library.specdec_layers, library.specdec_chain
        self.embed, self._largest, self._log_probabilities = (
            library.specdec_embed,
            library.specdec_largest,
            library.specdec_log_probabilities,
        )
        self._own = threading.local()

    @staticmethod
    def threads(work: int) -> int:
        """How many threads to do so many multiplications with: one, where others would hardly have begun."""
        return torch.get_num_threads() if work >= WORTH_SHARING else 1

    def largest(self, logits: Tensor) -> Tensor:
        """argmax over the last dimension of float32 numbers on the CPU, the first of equal ones; torch's takes five times as long."""
        logits = logits.contiguous()
        places = torch.empty(logits.shape[:-1], dtype=torch.int64)
        size = logits.shape[-1]
        self._largest(logits.data_ptr(), places.numel(), size, places.data_ptr(), self.threads(LOOKING * logits.numel()))
        return places

    def log_probabilities(self, logits: Tensor, ids: Tensor) -> Tensor:
        """Of `ids` (...) by float32 logits (..., V) on the CPU; a row's does not depend on the rows beside it."""
        logits, ids = logits.contiguous(), ids.contiguous()
        found = logits.new_empty(ids.shape)
        pointers = (ids.data_ptr(), found.data_ptr())
        self._log_probabilities(logits.data_ptr(), ids.numel(), logits.shape[-1], *pointers, self.threads(LOOKING * logits.numel()))
        return found

    def scratch(self, size: int) -> int:
        """The address of at least `size` bytes, this thread's until it asks again."""
        room: Tensor | None = getattr(self._own, "room", None)
        if room is None or room.numel() < size:
            room = self._own.room = torch.empty(2 * size, dtype=torch.uint8)
        return room.data_ptr()


@cache
def load_kernels() -> Kernels | None:
    """The kernels, compiled if need be; None where there is no compiler, or the processor lacks the instructions.

    SPECDEC_KERNELS=off in the environment does without them.
    """
    if os.environ.get("SPECDEC_KERNELS") == "off":
        return None
    library = cache_folder() / f"kernels-{fingerprint(SOURCE.read_bytes(), TEAM.read_bytes(), _FLAGS)}.so"
    try:
        if not library.exists():
            _compile(library)
        return Kernels(ctypes.CDLL(str(library)))
    except (OSError, subprocess.SubprocessError):
        return None


def _compile(library: Path) -> None:
    """Compile into `library`, atomically. Raises OSError where there is no compiler, CalledProcessError where it fails."""
    compiler = next((found for name in _COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        raise FileNotFoundError("no C compiler")
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        linked = Path(folder) / "kernels.so"
        subprocess.run([compiler, *_FLAGS, str(SOURCE), "-o", str(linked), "-lm"], check=True, capture_output=True)
        linked.replace(library)
