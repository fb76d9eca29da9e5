"""Cache on disk of measurements of this machine, such as the costs of rounds."""

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from specdec_cli.errors import InputError
from specdec_cli.files import cache_folder, read_json, write_json
from specdec_cli.version import __version__

T = TypeVar("T")


def fingerprint(*parts: object) -> str:
    """A hash (16 hexadecimal digits) of `parts` and of the processor's model and instructions, if the system
    describes them.
    """
    digest = hashlib.sha256(repr(parts).encode())
    description = Path("/proc/cpuinfo")
    if description.exists():
        described = description.read_bytes().splitlines()
        digest.update(b"\n".join(sorted({line for line in described if line.startswith((b"flags", b"model name"))})))
    return digest.hexdigest()[:16]


class CachedMeasurement:
    """A measurement in a JSON file of the cache folder, which need not exist. The file's name has `kind` (the kind
    of measurement) and a hash of specdec's version, the processor and `parts`, on which the measured value depends.
    """

    def __init__(self, kind: str, parts: tuple[object, ...]) -> None:
        self.path = cache_folder() / f"{kind}-{fingerprint(__version__, *parts)}.json"

    def read(self, check: Callable[[dict[str, Any]], T]) -> T | None:
        """Return the cached value; None if there is none, or if it is not valid.

        `check` converts the JSON object to the value; it must raise KeyError, TypeError or ValueError for an object
        that is not valid.
        """
        with contextlib.suppress(InputError, KeyError, TypeError, ValueError):
            return check(read_json(self.path, InputError))
        return None

    def write(self, value: dict[str, Any]) -> bool:
        """Store `value` in place of an older one; return whether this succeeded. No error is raised if the file
        cannot be written.
        """
        try:
            write_json(self.path, value)
        except OSError:
            return False
        return True


def forget_measurements() -> int:
    """Delete all cached measurements and indexes of translation memories, and the compiled code of earlier versions;
    return the number of files.

    Raises OSError if a file cannot be deleted.
    """
    patterns = ("costs-*.json", "drafts-*.json", "gpu-*.json", "kernels-*", "memory-*.index")
    found = [path for pattern in patterns for path in cache_folder().glob(pattern) if path.is_file()]
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)
