"""Models of other toolkits, converted on first use and kept in the user's cache folder."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from specdec_cli.errors import UsageError
from specdec_cli.files import cache_folder

if TYPE_CHECKING:
    from specdec_cli.commands.model_choice import ModelChoice
    from specdec_cli.model.formats import Conversion

_VERSION = 2
"""Part of every key; another number where conversion comes to mean something else."""
_READ = (".json", ".safetensors", ".bin", ".npz", ".pt", ".spm", ".model", ".txt", ".bpe", ".codes", ".yml", "")
"""Endings of files that a conversion may read; others, such as logs, change nothing."""


def models_folder() -> Path:
    """Where converted models are kept."""
    return cache_folder() / "models"


def cached_bundles() -> Iterator[Path]:
    """The bundles in the cache folder."""
    return iter(sorted(path.parent for path in models_folder().glob("*/bundle.json")))


def converted(chosen: "ModelChoice") -> Path | None:
    """The bundle of a model of another toolkit: a folder, a file, a name on the hub, or that of a bundle in the cache.

    None if there is no such thing. Raises ModelError for a model that cannot be converted, and UsageError for a language
    that is needed.
    """
    from specdec_cli.model.bundle import save_bundle
    from specdec_cli.model.formats import ConversionOptions, convert_model, find_format
    from specdec_cli.model.hub import fetch, is_hub_name
    from specdec_cli.new_folder import new_folder

    path = Path(chosen.name)
    if path.exists():
        if find_format(path) is None:
            return None
        title = path.resolve().name
    elif (models_folder() / path / "bundle.json").exists():
        return models_folder() / path
    elif is_hub_name(chosen.name):
        path, title = fetch(chosen.name, None, chosen.offline), chosen.name
    else:
        return None
    folder = models_folder() / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', title).strip('-')}-{_key(path)}"
    if not (folder / "bundle.json").exists():
        if not chosen.quiet:
            typer.echo(f"specdec: {chosen.name}: converting it into {folder}", err=True)
        conversion = convert_model(path, None, ConversionOptions(chosen.source_language, chosen.target_language))
        if conversion.dropped_settings and not chosen.quiet:
            typer.echo(f"specdec: warning: {chosen.name}: not carried over: {', '.join(conversion.dropped_settings)}", err=True)
        _forget_languages(conversion, chosen)
        try:
            with new_folder(folder, "bundle.json", force=False) as partial:
                save_bundle(conversion.bundle, partial)
        except UsageError:
            # Somebody else has just converted the same.
            if not (folder / "bundle.json").exists():
                raise
    return folder


def _forget_languages(conversion: "Conversion", chosen: "ModelChoice") -> None:
    """Of a model of many languages no later use shall have those that were asked for this time."""
    bundle = conversion.bundle
    if bundle.tokenizer.multilingual:
        source = "" if chosen.source_language else bundle.info.source_language
        target = "" if chosen.target_language else bundle.info.target_language
        bundle.info = replace(bundle.info, source_language=source, target_language=target)


def _key(path: Path) -> str:
    """A fingerprint of the files at and beside `path`: names, sizes and times, not their content, so that it is there at once."""
    folder = path if path.is_dir() else path.parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.suffix in _READ)
    digest = hashlib.sha256(f"{_VERSION} {path.resolve()}".encode())
    for file in files:
        seen = file.stat()
        digest.update(f"{file.name} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:12]
