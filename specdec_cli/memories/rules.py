"""The version of the rules by which memories are read, which an index is stored with."""

from functools import cache
from hashlib import sha256
from pathlib import Path

import specdec_cli

_PARTS = ("memories", "text")
"""Packages with the code that reads files, takes sentences out of them, and makes the features of these."""


@cache
def rules_version() -> str:
    """A digest of the code whose changes may change an index, so that no index that was made by other code is used."""
    digest = sha256(specdec_cli.__version__.encode())
    for path in sorted(path for part in _PARTS for path in Path(specdec_cli.__file__).with_name(part).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
