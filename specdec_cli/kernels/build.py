"""The compiled kernels: built by the machine's C compiler on their first use and stored in the cache folder;
decoding works without them.
"""

import ctypes
import hashlib
import os
import platform
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from specdec_cli.files import cache_folder, write_atomically
from specdec_cli.kernels.compilers import CompilationError, compile_library
from specdec_cli.measurement_cache import fingerprint, is_writable

SOURCES = sorted(Path(__file__).parent.glob("*.[ch]"))
# Nothing is fused that the sources do not fuse, so that every compiler's code gives the same bits.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-pthread", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")
WORTH_SHARING = 4_000_000
"""Number of multiplications from which several threads are used: waking up a sleeping thread can take milliseconds."""
WORK_PER_LOGIT = 10
"""Cost of reading a logit, in multiplications, for the choice of the number of threads."""
_INSTRUCTIONS = {b"avx512_vnni", b"avx_vnni"}
_CPU = Path("/proc/cpuinfo")
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
    "chain": ([*[_pointer] * 4, _number, _number, _number, _pointer, _pointer, ctypes.c_int], None),
}


class Kernels:
    """The functions of the compiled library, named without their prefix "specdec_", and scratch memory for each
    thread.

    `linear` computes a linear layer, `layers` the layers of an encoder or decoder, `embed` embeddings, `encode` an
    encoder's states, `verify` a verification. `advance` appends accepted tokens. `copy` and `realign` are the steps
    `propose` and `observe` of SourceCopy. `largest` finds the ids of the largest logits, `log_probabilities`
    computes the log probabilities of given ids, and `chain` chooses drafts by a slot link. `instructions` names the
    instruction set of the matrix products. Raises AttributeError if the library lacks a function.
    """

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
        library.specdec_instructions.restype = ctypes.c_char_p
        self.instructions = str(library.specdec_instructions().decode())
        self._own = threading.local()

    @staticmethod
    def threads(work: int) -> int:
        """The number of threads for `work` multiplications: 1 if it is less than WORTH_SHARING, else PyTorch's
        number of threads.
        """
        return torch.get_num_threads() if work >= WORTH_SHARING else 1

    def scratch(self, size: int) -> int:
        """The address of at least `size` bytes of scratch memory, which is valid until this thread calls the method
        again.
        """
        room: Tensor | None = getattr(self._own, "room", None)
        if room is None or room.numel() < size:
            room = self._own.room = torch.empty(2 * size, dtype=torch.uint8)
        return room.data_ptr()


@dataclass(frozen=True)
class Loaded:
    """The loaded kernels, or None and the reason why there are none, in one line."""

    kernels: Kernels | None
    reason: str = ""


def load_kernels() -> Kernels | None:
    """Return the kernels, which are compiled on the first use; None if they cannot be used (see
    `kernels_or_reason`).
    """
    return kernels_or_reason().kernels


@cache
def kernels_or_reason() -> Loaded:
    """Return the kernels, which are compiled on the first use, or the reason why they cannot be used.

    They cannot be used if SPECDEC_KERNELS=off is set, if the processor lacks the instructions, if no compiler
    succeeds, or if the cache folder cannot be written to. A damaged library in the cache is compiled again.
    """
    if os.environ.get("SPECDEC_KERNELS") == "off":
        return Loaded(None, "SPECDEC_KERNELS is off")
    if not _has_instructions():
        return Loaded(None, "this processor has neither AVX-512 VNNI nor AVX-VNNI")
    path = cache_folder() / f"kernels-{kernels_digest()}.so"
    try:
        if not _is_whole(path):
            if not is_writable(path.parent):
                return Loaded(None, f"they cannot be kept: {path.parent} cannot be written to")
            library = compile_library([str(source) for source in SOURCES if source.suffix == ".c"], FLAGS, path.with_suffix(".failed.json"))
            write_atomically(path, lambda partial: partial.write_bytes(library + _seal(library)))
        return Loaded(Kernels(ctypes.CDLL(str(path))))
    except CompilationError as error:
        return Loaded(None, str(error))
    except (OSError, AttributeError) as error:
        return Loaded(None, " ".join(f"they cannot be loaded ({error})".split()))


def kernels_digest() -> str:
    """A hash of the kernels' sources, the compiler flags, and the processor's model and instructions."""
    return fingerprint(*(path.read_bytes() for path in SOURCES), FLAGS)


def _has_instructions() -> bool:
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    if not _CPU.exists():  # then the compiler finds out
        return True
    flags = next((line for line in _CPU.read_bytes().splitlines() if line.startswith(b"flags")), b"")
    return bool(_INSTRUCTIONS & set(flags.split()))


def _seal(library: bytes) -> bytes:
    """What stands behind a library, so that one that is damaged or of something else is never loaded."""
    return hashlib.sha256(library).digest()


def _is_whole(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    size = hashlib.sha256().digest_size
    return len(content) > size and content[-size:] == _seal(content[:-size])
