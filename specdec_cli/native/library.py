"""The compiled C library of the native engine: its functions in ctypes, and its errors."""

import ctypes
import os
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.native.structs import CostsStruct, HypothesisStruct, Options, Output, Shape, Tensor

VERSION = 1
TYPES = {"F32": 0, "F16": 1, "BF16": 2, "I8": 3}
"""The library's numbers for the number formats of tensors in safetensors files."""
ACTIVATIONS = {"relu": 1, "gelu": 2, "silu": 3}
DECODINGS = {"greedy": 0, "input-guided": 1, "lookup": 2, "specdec": 3, "given-drafts": 4, "beam": 5, "ngram-memory": 6}
MATCHES = {"unique": 0, "unique-3": 1, "nearest": 2}
STOPS = {"heuristic": 0, "first": 1, "never": 2, "fairseq": 3}
MOST_BEAM = 32
"""The largest beam size."""
OK, WAITING, FINISHED, ROUND = 0, 1, 2, 3
_BAD_SHAPE, _BAD_TENSOR, _NOT_FINITE = -2, -3, -4
_UNKNOWN_ISA = -9
_MESSAGES = {
    -1: "there is not enough memory",
    _BAD_SHAPE: "a size of the model is out of the range of the native engine",
    _BAD_TENSOR: "it is not of the shape or the number format that the configuration asks for",
    _NOT_FINITE: "it holds values that are not finite",
    -5: "an option is out of its range",
    -6: "an id of a source is not in the vocabulary",
    -7: "a source is empty or longer than the model's positions",
    -8: "it was made in another process",
    _UNKNOWN_ISA: "no such instruction set",
}
_pointer, _int32, _int64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64


_FUNCTIONS: dict[str, tuple[Sequence[object], object]] = {
    "layout": ([_pointer, _int32], _int32),
    "instruction_sets": ([], ctypes.c_char_p),
    "model_create": ([_pointer, _pointer, _int64, ctypes.c_char_p, _pointer, _pointer], _int32),
    "model_destroy": ([_pointer], None),
    "model_isa": ([_pointer], ctypes.c_char_p),
    "capacity": ([_pointer, _int64, _int64], _int64),
    "session_create": ([_pointer, _pointer, _pointer, _pointer, _int64, _pointer], _int32),
    "session_next": ([_pointer, _int32, _pointer], _int32),
    "session_times": ([_pointer, _pointer, _pointer], None),
    "session_destroy": ([_pointer], None),
    "adaptive_create": ([_pointer, _int32, _int32, _int32, _int32, _pointer], _int32),
    "adaptive_destroy": ([_pointer], None),
    "adaptive_drafts": ([_pointer, _pointer, _pointer], None),
    "memory_create": ([_int32, _int32, _pointer], _int32),
    "memory_destroy": ([_pointer], None),
}


class LibraryError(Exception):
    """An error: the compiled library is missing, or was built from another version; the message says which, in one
    line.
    """


class UnsupportedModel(ModelError):
    """An error: the model has a size or a number format that the library does not support; the reference engine may
    support it.
    """


class NativeError(Exception):
    """An error that a function of the library returned; `status` is its number, and the message says what it means."""

    def __init__(self, status: int) -> None:
        super().__init__(_MESSAGES.get(status, f"status {status}"))
        self.status = status


@cache
def load_library() -> ctypes.CDLL:
    """Load the library that was built with the package, once per process.

    Raises LibraryError if the library was not built, cannot be loaded, or was built from another version.
    """
    path = library_path()
    if path is None:
        raise LibraryError("it is not built; with a C compiler, install the package again")
    try:
        if _is_cut_short(path):
            raise LibraryError(f"{path}: it is cut short; install the package again")
        library = ctypes.CDLL(str(path))
    except OSError as error:
        cause = " ".join(str(error).split()).removeprefix(f"{path}: ")
        raise LibraryError(f"{path}: {cause}") from error
    other = LibraryError(f"{path}: built from other sources than this version; install the package again")
    try:
        for name, (arguments, result) in _FUNCTIONS.items():
            function = getattr(library, f"specdec_{name}")
            function.argtypes, function.restype = arguments, result
    except AttributeError as error:
        raise other from error
    if _layout(library) != _expected_layout():
        raise other
    return library


def _is_cut_short(path: Path) -> bool:
    """Whether a 64-bit little-endian ELF file ends before its table of sections, which linkers write last. To load it would
    end the process with SIGBUS. False for other files.
    """
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        header = stream.read(64)
    if len(header) < 64 or not header.startswith(b"\x7fELF\x02\x01"):
        return False
    (start,) = struct.unpack_from("<Q", header, 40)
    size, count = struct.unpack_from("<HH", header, 58)
    return bool(start + size * count > path.stat().st_size)


def library_path() -> Path | None:
    """The path of the compiled library, None if it was not built; the environment variable SPECDEC_NATIVE replaces
    it.
    """
    own = os.environ.get("SPECDEC_NATIVE")
    if own:
        return Path(own)
    return next(iter(sorted(Path(__file__).parent.glob("_engine*.so"))), None)


def _layout(library: ctypes.CDLL) -> list[int]:
    values = (_int32 * 64)()
    count = library.specdec_layout(values, len(values))
    return list(values[:count])


def _expected_layout() -> list[int]:
    sizes = [ctypes.sizeof(each) for each in (Shape, Tensor, Options, Output, HypothesisStruct, CostsStruct)]
    starts = [Shape.mask.offset, Tensor.type.offset, Options.recorded.offset, Options.length_penalty.offset]
    offsets = [
        *starts,
        Options.word_starts.offset,
        Options.adaptive.offset,
        Options.prefix_lengths.offset,
        Options.memory.offset,
        Output.log_probabilities.offset,
        HypothesisStruct.log_probability.offset,
    ]
    return [
        VERSION,
        *sizes,
        *offsets,
        TYPES["I8"],
        ACTIVATIONS["silu"],
        DECODINGS["ngram-memory"],
        MATCHES["nearest"],
        STOPS["fairseq"],
        _UNKNOWN_ISA,
    ]


def check(status: int) -> int:
    """Return `status`, the result of a function of the library, if it is not negative. Raises MemoryError for -1,
    and NativeError for any other negative number.
    """
    if status == -1:
        raise MemoryError(_MESSAGES[status])
    if status < 0:
        raise NativeError(status)
    return status


def instruction_set() -> bytes | None:
    """The instruction set that the environment variable SPECDEC_ISA names; None if it is not set: the best of the
    processor.

    Raises UsageError for one that this machine does not have, and LibraryError if the library cannot be loaded.
    """
    asked = os.environ.get("SPECDEC_ISA")
    known = load_library().specdec_instruction_sets().decode()
    if asked and asked not in known.split(","):
        raise UsageError(f"SPECDEC_ISA={asked}: this machine has {known.replace(',', ', ')}")
    return asked.encode() if asked else None


def model_error(status: int, place: str) -> Exception:
    """The exception for the error `status` of loading a model: MemoryError, UnsupportedModel for its sizes, else
    ModelError.

    `place` begins the message; it names the file, and the tensor if a tensor is the cause.
    """
    if status == -1:
        return MemoryError(_MESSAGES[status])
    kind = UnsupportedModel if status == _BAD_SHAPE else ModelError
    return kind(f"{place}: {_MESSAGES.get(status, f'status {status}')}")
