"""What was measured on this machine, kept in the cache folder, so that it is measured once."""

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
    """A name for `parts` on this machine: another processor, where the system describes it, has another one."""
    digest = hashlib.sha256(repr(parts).encode())
    description = Path("/proc/cpuinfo")
    if description.exists():
        described = description.read_bytes().splitlines()
        digest.update(b"\n".join(sorted({line for line in described if line.startswith((b"flags", b"model name"))})))
    return digest.hexdigest()[:16]


class CachedMeasurement:
    """A measurement of `kind` (the file's name begins with it), which depends on this version, this processor and `parts`."""

    def __init__(self, kind: str, parts: tuple[object, ...]) -> None:
        self.path = cache_folder() / f"{kind}-{fingerprint(__version__, *parts)}.json"

    def read(self, check: Callable[[dict[str, Any]], T]) -> T | None:
        """What was kept, as `check` makes it of a JSON object; None where nothing is, or nothing that passes.

        `check` raises KeyError, TypeError or ValueError for an object that cannot be one.
        """
        with contextlib.suppress(InputError, KeyError, TypeError, ValueError):
            return check(read_json(self.path, InputError))
        return None

    def write(self, value: dict[str, Any]) -> bool:
        """Keep a measurement; whether that could be done."""
        try:
            write_json(self.path, value)
        except OSError:
            return False
        return True


def is_writable(folder: Path) -> bool:
    """Whether files can be made in `folder`, which is made first."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def forget_measurements() -> int:
    """Delete all measurements, compiled kernels and notes of failed compilations; the number of files. Raises OSError."""
    patterns = ("costs-*.json", "kernels-*")
    found = [path for pattern in patterns for path in cache_folder().glob(pattern) if path.is_file()]
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)
