"""Cache of models that were converted from other toolkits, in the user's cache folder."""

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
    from specdec_cli.model.formats import Conversion
    from specdec_cli.opening.model_choice import ModelChoice

_VERSION = 2
"""The version of the cache format, part of the key of every converted model; raise it when the output of a conversion changes."""
_READ = (".json", ".safetensors", ".bin", ".npz", ".pt", ".spm", ".model", ".txt", ".bpe", ".codes", ".yml", "")
"""Suffixes of the files that a conversion may read; changes of other files, such as logs, do not change the key of a model."""


def models_folder() -> Path:
    """The folder of converted models, in the user's cache folder."""
    return cache_folder() / "models"


def cached_bundles() -> Iterator[Path]:
    """The folders of the converted bundles in the cache, sorted."""
    return iter(sorted(path.parent for path in models_folder().glob("*/bundle.json")))


def converted(chosen: "ModelChoice") -> Path | None:
    """The folder of the bundle that another toolkit's model (a folder, a file, or a name on the hub) was converted to.

    The model is converted if the cache has no bundle of it. `chosen` may also name a bundle in the cache. None if there is no such
    model. Raises ModelError for a model that cannot be converted, and UsageError if a language is missing or unknown.
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
            typer.echo(f"specdec: {chosen.name}: converting to {folder}", err=True)
        conversion = convert_model(path, None, ConversionOptions(chosen.source_language, chosen.target_language))
        warn_of_dropped(conversion, chosen)
        _forget_languages(conversion, chosen)
        try:
            with new_folder(folder, "bundle.json", force=False) as partial:
                save_bundle(conversion.bundle, partial)
        except UsageError:
            # Another process has converted the same model meanwhile.
            if not (folder / "bundle.json").exists():
                raise
    return folder


def warn_of_dropped(conversion: "Conversion", chosen: "ModelChoice") -> None:
    """Name on stderr the settings of the original model that affect its output and that bundles do not support, unless --quiet is given."""
    if conversion.dropped_settings and not chosen.quiet:
        typer.echo(f"specdec: warning: {chosen.name}: unsupported settings: {', '.join(conversion.dropped_settings)}", err=True)


def _forget_languages(conversion: "Conversion", chosen: "ModelChoice") -> None:
    """Remove the requested languages from the bundle of a multilingual model: later uses may request others."""
    bundle = conversion.bundle
    if bundle.tokenizer.multilingual:
        source = "" if chosen.source_language else bundle.info.source_language
        target = "" if chosen.target_language else bundle.info.target_language
        bundle.info = replace(bundle.info, source_language=source, target_language=target)


def _key(path: Path) -> str:
    """A hash of names, sizes and modification times of the files at and beside `path`; reading their content would take long."""
    folder = path if path.is_dir() else path.parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.suffix in _READ)
    digest = hashlib.sha256(f"{_VERSION} {path.resolve()}".encode())
    for file in files:
        seen = file.stat()
        digest.update(f"{file.name} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:12]
