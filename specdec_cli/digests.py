"""Hashes of the content of files."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from specdec_cli.errors import ModelError, cause_of


def folder_digest(folder: Path) -> str:
    """A hash, in hexadecimal, of all files in `folder`. Raises ModelError for an unreadable file."""
    digest = hashlib.sha256()
    hash_files(digest, folder, ["**/*"])
    return digest.hexdigest()[:16]


def files_digest(paths: Iterable[Path]) -> str:
    """A hash, in hexadecimal, of the contents of files in their order. Raises ModelError for an unreadable file."""
    digest = hashlib.sha256()
    for path in paths:
        _hash_content(digest, path)
    return digest.hexdigest()[:16]


def hash_files(digest: "hashlib._Hash", folder: Path, patterns: Iterable[str]) -> None:
    """Add names and contents of the files in `folder` that match `patterns` to `digest`."""
    for path in [path for pattern in patterns for path in sorted(folder.glob(pattern)) if not path.is_dir()]:
        digest.update(path.relative_to(folder).as_posix().encode())
        _hash_content(digest, path)


def _hash_content(digest: "hashlib._Hash", path: Path) -> None:
    try:
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    except OSError as error:
        raise ModelError(f"{path}: {cause_of(error)}") from error
