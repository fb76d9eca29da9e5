"""Models of other toolkits, converted on first use and kept in the user's cache folder."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import typer

from specdec_cli.errors import UsageError

_VERSION = 1
"""Part of every key; another number where conversion comes to mean something else."""


def cache_folder() -> Path:
    """Where converted models are kept: $SPECDEC_CACHE, else specdec in the user's cache folder."""
    own = os.environ.get("SPECDEC_CACHE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specdec"
    return (Path(own) if own else usual) / "models"


def cached_bundles() -> Iterator[Path]:
    """The bundles in the cache folder."""
    return iter(sorted(path.parent for path in cache_folder().glob("*/bundle.json")))


def converted(name: str, languages: tuple[str, str], offline: bool) -> Path | None:
    """The bundle of a model of another toolkit: a folder, a file, or a name on the hub. None if `name` is no such thing.

    Raises ModelError for a model that cannot be converted, and UsageError for a language that is needed.
    """
    from converters.models import Wanted, convert_model, fetch, find_format, is_hub_name
    from specdec_cli.files import new_folder
    from specdec_cli.model.bundle import save_bundle

    path = Path(name)
    if path.exists():
        if find_format(path) is None:
            return None
    elif is_hub_name(name):
        path = fetch(name, None, offline)
    else:
        return None
    folder = cache_folder() / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name).strip('-')}-{_key(path)}"
    if not (folder / "bundle.json").exists():
        typer.echo(f"specdec: {name}: converting it into {folder}", err=True)
        conversion = convert_model(path, None, Wanted(*languages))
        for setting in conversion.left_behind:
            typer.echo(f"specdec: {name}: {setting} is not carried over", err=True)
        try:
            with new_folder(folder, "bundle.json", force=False) as partial:
                save_bundle(conversion.bundle, partial)
        except UsageError:
            # Somebody else has just converted the same.
            if not (folder / "bundle.json").exists():
                raise
    return folder


def _key(path: Path) -> str:
    """A fingerprint of the files at `path`: names, sizes and times, not their content, so that it is there at once."""
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
    digest = hashlib.sha256(f"{_VERSION} {path.resolve()}".encode())
    for file in files:
        seen = file.stat()
        digest.update(f"{file.name} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:12]
