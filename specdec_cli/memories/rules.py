"""The version of the rules by which memories are read, which an index is stored with."""

from functools import cache
from hashlib import sha256
from pathlib import Path

import specdec_cli

PARTS = (
    "documents",
    "memories",
    "text/corpus",
    "text/io",
    "text/locale",
    "text/protect",
    "text/segment",
    "text/tags",
    "text/edits.py",
    "text/view.py",
)
"""Folders and files of the code that reads files, takes sentences out of them, and makes the features of these."""


@cache
def rules_version() -> str:
    """A digest of the code whose changes may change an index, so that no index that was made by other code is used."""
    digest = sha256(specdec_cli.__version__.encode())
    for part in PARTS:
        path = Path(specdec_cli.__file__).parent / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
