"""The compiled kernels: built once by the machine's own C compiler, kept in the cache folder, never needed to run."""

import ctypes
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from specdec_cli.files import cache_folder
from specdec_cli.remembered import fingerprint

_SOURCES = sorted(Path(__file__).parent.glob("*.[ch]"))
WORTH_SHARING = 4_000_000
"""Multiplications from which on more than one thread is used: waiting for one that the system let sleep can take milliseconds."""
LOOKING = 10
"""Multiplications that looking at a number counts as."""
_COMPILERS = (os.environ.get("CC") or "cc", "gcc", "clang")
_FLAGS = ("-O3", "-march=native", "-pthread", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")
_pointer, _number = ctypes.c_void_p, ctypes.c_int64
_Function = Callable[..., int]
_FUNCTIONS: dict[str, tuple[list[type], type | None]] = {
    "linear": ([_pointer, _pointer, _number, _pointer, _pointer, ctypes.c_int], None),
    "layers": ([*[_pointer] * 7, ctypes.c_int], None),
    "embed": ([_pointer, _pointer, _pointer, _number, _pointer], None),
    "encode": ([_pointer, _pointer, _pointer, _number, _number, _number, *[_pointer] * 3, ctypes.c_int], None),
    "verify": ([*[_pointer] * 5, ctypes.c_int], None),
    "advance": ([_pointer, _pointer, _number], _number),
    "copy": ([*[_pointer] * 4, _number, _pointer, _pointer], _number),
    "realign": ([_pointer, _pointer, _number, _pointer, _pointer], None),
    "largest": ([_pointer, _number, _number, _pointer, ctypes.c_int], None),
    "log_probabilities": ([_pointer, _number, _number, _pointer, _pointer, ctypes.c_int], None),
    "chain": ([_pointer, _pointer, _pointer, _number, _number, _pointer, _pointer, ctypes.c_int], None),
}


class Kernels:
    """The functions of a compiled library, each named as it is there without "specdec_", with room to work in for each caller."""

    linear: _Function
    layers: _Function
    embed: _Function
    encode: _Function
    verify: _Function
    advance: _Function
    copy: _Function
    realign: _Function
    largest: _Function
    log_probabilities: _Function
    chain: _Function

    def __init__(self, library: ctypes.CDLL) -> None:
        for name, (arguments, result) in _FUNCTIONS.items():
            function = getattr(library, f"specdec_{name}")
            function.argtypes, function.restype = arguments, result
            setattr(self, name, function)
        self._own = threading.local()

    @staticmethod
    def threads(work: int) -> int:
        """How many threads to do so many multiplications with: one, where others would hardly have begun."""
        return torch.get_num_threads() if work >= WORTH_SHARING else 1

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
    library = cache_folder() / f"kernels-{fingerprint(*(path.read_bytes() for path in _SOURCES), _FLAGS)}.so"
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
        subprocess.run(
            [compiler, *_FLAGS, *(str(path) for path in _SOURCES if path.suffix == ".c"), "-o", str(linked), "-lm"],
            check=True,
            capture_output=True,
        )
        linked.replace(library)
