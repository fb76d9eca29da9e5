"""The compiled C library of the native engine: its functions in ctypes, and its errors."""

import ctypes
import os
import struct
from functools import cache
from pathlib import Path

from specdec_cli.errors import ModelError, NotFiniteError, UsageError
from specdec_cli.native.header import read_header

HEADER = read_header(Path(__file__).with_name("specdec.h"))
"""The interface for which this version calls the library."""
OK, WAITING, FINISHED, ROUND = (HEADER.enums["status"][name] for name in ("ok", "waiting", "finished", "round"))
_NO_MEMORY, _BAD_SHAPE, _BAD_PASS, _NOT_FINITE = (
    HEADER.enums["status"][name] for name in ("no-memory", "bad-shape", "bad-pass", "not-finite")
)
_MESSAGES = {
    "no-memory": "there is not enough memory",
    "bad-shape": "a size of the model is out of the range of the native engine",
    "bad-tensor": "it is not of the shape or the number format that the configuration asks for",
    "not-finite": "it holds values that are not finite",
    "bad-option": "an option is out of its range",
    "bad-id": "an id of a source is not in the vocabulary",
    "bad-length": "a source is empty or longer than the model's positions",
    "forked": "it was made in another process",
    "bad-pass": "a value of a pass is out of its range",
    "unknown-isa": "no such instruction set",
}
_UNCHECKED = 0
"""The checksum in a library that was built without one, by a test."""


class LibraryError(Exception):
    """An error: the compiled library is missing, or was built from another version; the message says which, in one
    line.
    """


class StaleLibrary(LibraryError):
    """An error: the compiled library was built from another version of the package."""


class UnsupportedModel(ModelError):
    """An error: the model has a size or a number format that the library does not support; the reference engine may
    support it.
    """


class NativeError(Exception):
    """An error that a function of the library returned; the message names the option, or the value of a pass, at fault."""

    def __init__(self, status: int, fault: bytes | None = None) -> None:
        kind = "pass" if status == _BAD_PASS else "option"
        super().__init__(_message(status) if fault is None else f"{kind} {fault.decode()}: out of its range, or it contradicts others")


@cache
def load_library() -> ctypes.CDLL:
    """Load the library that was built with the package, once per process.

    Raises LibraryError if the library was not built or cannot be loaded, and StaleLibrary if it was built from another version.
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
    other = StaleLibrary(f"{path}: built from other sources than this version; install the package again")
    try:
        for name, (arguments, result) in HEADER.functions.items():
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, result
    except AttributeError as error:
        raise other from error
    if library.specdec_interface() not in (HEADER.checksum, _UNCHECKED):
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


def check(status: int, fault: bytes | None = None) -> int:
    """Return `status`, the result of a function of the library, if it is not negative. Raises MemoryError if there is not enough
    memory, NotFiniteError if a logit is not finite, and NativeError for any other negative number. `fault` is the name of the option
    that is out of its range, if one is.
    """
    if status == _NO_MEMORY:
        raise MemoryError(_message(status))
    if status == _NOT_FINITE:
        raise NotFiniteError
    if status < 0:
        raise NativeError(status, fault)
    return status


def instruction_set() -> str:
    """The instruction set that the environment variable SPECDEC_ISA names; the best of the processor if it is not set.

    Raises UsageError for one that this machine does not have, and LibraryError if the library cannot be loaded.
    """
    asked = os.environ.get("SPECDEC_ISA")
    known = str(load_library().specdec_instruction_sets().decode()).split(",")
    if asked and asked not in known:
        raise UsageError(f"SPECDEC_ISA={asked}: this machine has {', '.join(known)}")
    return asked or known[0]


def model_error(status: int, place: str) -> Exception:
    """The exception for the error `status` of loading a model: MemoryError, UnsupportedModel for its sizes, else
    ModelError.

    `place` begins the message; it names the file, and the tensor if a tensor is the cause.
    """
    if status == _NO_MEMORY:
        return MemoryError(_message(status))
    kind = UnsupportedModel if status == _BAD_SHAPE else ModelError
    return kind(f"{place}: {_message(status)}")


def _message(status: int) -> str:
    return next((_MESSAGES[name] for name, value in HEADER.enums["status"].items() if value == status), f"status {status}")
