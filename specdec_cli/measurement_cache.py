"""Disk cache of measurements of this machine."""

import contextlib
import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from specdec_cli import __version__
from specdec_cli.errors import InputError
from specdec_cli.files import cache_folder, read_json, write_json

T = TypeVar("T")


def fingerprint(*parts: object) -> str:
    """A hash of `parts` and of the processor model, where the system describes it."""
    digest = hashlib.sha256(repr(parts).encode())
    description = Path("/proc/cpuinfo")
    if description.exists():
        described = description.read_bytes().splitlines()
        digest.update(b"\n".join(sorted({line for line in described if line.startswith((b"flags", b"model name"))})))
    return digest.hexdigest()[:16]


class CachedMeasurement:
    """A cached measurement; its key has the version of specdec, the processor and `parts`, and its file name begins with `kind`."""

    def __init__(self, kind: str, parts: tuple[object, ...]) -> None:
        self.path = cache_folder() / f"{kind}-{fingerprint(__version__, *parts)}.json"

    def read(self, check: Callable[[dict[str, Any]], T]) -> T | None:
        """The cached value, converted from JSON by `check`; None if there is none, or none that is valid.

        `check` raises KeyError, TypeError or ValueError for an object that is not valid.
        """
        with contextlib.suppress(InputError, KeyError, TypeError, ValueError):
            return check(read_json(self.path, InputError))
        return None

    def write(self, value: dict[str, Any]) -> bool:
        """Store a measurement; False if it cannot be written."""
        try:
            write_json(self.path, value)
        except OSError:
            return False
        return True


def is_writable(folder: Path) -> bool:
    """Whether files can be created in `folder`, which is created if needed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def forget_measurements() -> int:
    """Delete all measurements, compiled kernels and records of failed compilations; return the number of files. Raises OSError."""
    patterns = ("costs-*.json", "kernels-*")
    found = [path for pattern in patterns for path in cache_folder().glob(pattern) if path.is_file()]
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)
