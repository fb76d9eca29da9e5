"""What was found out about this machine, kept in the cache folder, so that it is found out once."""

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from specdec_cli.errors import InputError
from specdec_cli.files import cache_folder, read_json, write_json


def fingerprint(*parts: object) -> str:
    """A name for `parts` on this machine: another processor, where the system describes it, has another one."""
    digest = hashlib.sha256(repr(parts).encode())
    description = Path("/proc/cpuinfo")
    if description.exists():
        described = description.read_bytes().splitlines()
        digest.update(b"\n".join(sorted({line for line in described if line.startswith((b"flags", b"model name"))})))
    return digest.hexdigest()[:16]


def remembered(what: str, parts: tuple[object, ...], find_out: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `find_out` gave for `parts` on this machine, now or an earlier time; a cache that cannot be used is no trouble."""
    path = cache_folder() / f"{what}-{fingerprint(*parts)}.json"
    with contextlib.suppress(InputError):
        return read_json(path, InputError)
    found = find_out()
    with contextlib.suppress(OSError):
        write_json(path, found)
    return found
