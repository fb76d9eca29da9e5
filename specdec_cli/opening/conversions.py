"""Models of other toolkits: their conversions, which are kept in int8 for a CPU, and their weights for all other uses."""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import cache_folder, new_folder, read_json, write_json
from specdec_cli.model.bundle_info import KEPT, Task, describe_bundle
from specdec_cli.model.hub import cached_copy, fetch, is_hub_name
from specdec_cli.opening.choice import ModelChoice

if TYPE_CHECKING:
    from converters.conversion import Conversion
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.model.storage import Written

Tell = Callable[[str], None]
"""Called with a message for the user, such as that a model is being converted."""


@runtime_checkable
class ShowsBytes(Protocol):
    """A `Tell` that also shows how many bytes of a file are written."""

    def writing(self) -> AbstractContextManager["Written"]:
        """Return a context for writing a file. It gives the function to call with the bytes written so far."""


_VERSION = 4
"""The version of the cache format, part of the key of every converted model; raise it when the output of a conversion changes."""
_READ = (".json", ".safetensors", ".bin", ".npz", ".pt", ".spm", ".model", ".txt", ".bpe", ".codes", ".yml", "")
"""Suffixes of the files that a conversion may read; changes of other files, such as logs, do not change the key of a model."""


def silent(message: str) -> None:
    """Ignore a message."""


def writing(tell: Tell) -> AbstractContextManager["Written"]:
    """Return a context for writing a file. It gives the function to call with the bytes written so far; `tell` shows them if it can."""
    from specdec_cli.model.storage import unseen

    return tell.writing() if isinstance(tell, ShowsBytes) else nullcontext(unseen)


def models_folder() -> Path:
    """The folder of converted models, in the user's cache folder."""
    return cache_folder() / "models"


def cached_bundles() -> Iterator[Path]:
    """The folders of the converted bundles in the cache, sorted."""
    # Folders whose names begin with a full stop are being written, or were left by a program that was killed.
    return iter(sorted(path.parent for path in models_folder().glob("[!.]*/bundle.json")))


def superseded_bundles() -> list[Path]:
    """The cached bundles that an earlier version kept, and this one does not look for: they hold all weights in float32."""
    return [folder for folder in cached_bundles() if not (folder / KEPT).exists()]


def converted(chosen: ModelChoice, tell: Tell = silent) -> Path | None:
    """The folder of the bundle that another toolkit's model (a folder, a file, or a name on the hub) was converted to, with its weights in
    int8.

    The model is converted if the cache has no bundle of it. `chosen` may also name a bundle in the cache. None if there is no such
    model. Raises ModelError for a model that cannot be converted, and UsageError if a language is missing or unknown.
    """
    path, title = Path(chosen.name), chosen.name
    if path.exists():
        title = path.resolve().name
    elif (models_folder() / path / "bundle.json").exists():
        return models_folder() / path
    elif not is_hub_name(chosen.name):
        return None
    else:
        path = cached_copy(chosen.name) or path
    # A conversion that is there is found without the libraries that make one.
    if path.exists() and (kept := _found(path, title, chosen.task)) is not None:
        return kept
    if not Path(chosen.name).exists():
        path = fetch(chosen.name, None, chosen.offline)
    else:
        from converters.formats import find_format

        if find_format(path) is None:
            return None
    return _found(path, title, chosen.task) or _keep(chosen, path, title, tell)


def load_checkpoint(
    folder: Path, source_language: str = "", target_language: str = "", *, instruction: str | None = None, offline: bool = False
) -> "Bundle":
    """Load the bundle in `folder` with its weights as they were trained: those of a kept conversion are read from the checkpoint.

    Languages, instruction and errors are those of `load_bundle`. Raises ModelError too if the checkpoint has gone or changed since it was
    converted.
    """
    from specdec_cli.model.bundle import Bundle, load_bundle

    if not (folder / KEPT).exists():
        return load_bundle(folder, source_language, target_language, instruction=instruction)
    described = describe_bundle(folder, source_language, target_language, instruction=instruction)
    path = _checkpoint_of(folder, offline)

    from converters.conversion import ConversionOptions
    from converters.formats import convert_model

    options = ConversionOptions(described.info.source_language, described.info.target_language, described.info.task)
    verifier = convert_model(path, None, options).joined().verifier.float()
    return Bundle(described.info, described.tokenizer, verifier, path=described.path)


def tell_dropped(conversion: "Conversion", name: str, tell: Tell) -> None:
    """Tell the settings of the original model `name` that affect its output and that bundles do not support, if there are any."""
    if conversion.dropped_settings:
        tell(f"warning: {name}: unsupported settings: {', '.join(conversion.dropped_settings)}")


def tell_instruction(conversion: "Conversion", name: str, tell: Tell) -> None:
    """Tell the words that stand in front of each source of the model `name`, if its conversion chose some."""
    if text := conversion.bundle.tokenizer.instruction:
        tell(f"{name}: instruction {text!r} (--instruction sets another)")


def _keep(chosen: ModelChoice, path: Path, title: str, tell: Tell) -> Path:
    """Convert the checkpoint at `path`, keep the bundle, and return its folder. One whose task only `chosen` says is kept for this task."""
    from converters.checkpoints import check_disk
    from converters.conversion import ConversionOptions, UnknownTask
    from converters.formats import convert_model

    folder, options = _kept(path, title), ConversionOptions(chosen.source_language, chosen.target_language)
    check_disk(path, folder, "int8")
    tell(f"{chosen.name}: converting to {models_folder()}")
    try:
        conversion = convert_model(path, None, options)
    except UnknownTask:
        if chosen.task is None:
            raise
        folder, conversion = _kept(path, title, chosen.task), convert_model(path, None, replace(options, task=chosen.task))
    tell_dropped(conversion, chosen.name, tell)
    tell_instruction(conversion, chosen.name, tell)
    _forget_languages(conversion, chosen)
    conversion.equalise()
    try:
        with new_folder(folder, "bundle.json", force=False) as partial, writing(tell) as written:
            conversion.save(partial, "int8", written)
            write_json(partial / KEPT, {"model": str(path.resolve()) if Path(chosen.name).exists() else chosen.name})
    except UsageError:
        # Another process has converted the same model meanwhile.
        if not (folder / "bundle.json").exists():
            raise
    return folder


def _found(path: Path, title: str, task: Task | None) -> Path | None:
    """The folder of the kept conversion of the checkpoint at `path`, or of the one for a task; None if there is none."""
    folders = [_kept(path, title), *([] if task is None else [_kept(path, title, task)])]
    return next((folder for folder in folders if (folder / "bundle.json").exists()), None)


def _checkpoint_of(folder: Path, offline: bool) -> Path:
    """The checkpoint of which `folder` is the kept conversion. Raises ModelError if it has gone or changed."""
    model = read_json(folder / KEPT, ModelError).get("model")
    if not isinstance(model, str):
        raise ModelError(f"{folder / KEPT}: model must be text")
    path = Path(model)
    needed = f"{folder} has its weights in int8, for a CPU alone; other precisions, devices, training and conversion need the checkpoint"
    try:
        if not path.exists():
            if not is_hub_name(model):
                raise ModelError(f"{model}: no such folder or file")
            path = fetch(model, None, offline)
        if _key(path) != folder.resolve().name.rpartition("-")[2]:
            raise ModelError(f"{model}: not the files that were converted")
    except ModelError as error:
        raise ModelError(f"{error} ({needed})") from error
    return path


def _forget_languages(conversion: "Conversion", chosen: ModelChoice) -> None:
    """Remove the requested languages from the bundle of a multilingual model: later uses may request others."""
    bundle = conversion.bundle
    if bundle.tokenizer.multilingual:
        source = "" if chosen.source_language else bundle.info.source_language
        target = "" if chosen.target_language else bundle.info.target_language
        bundle.info = replace(bundle.info, source_language=source, target_language=target)


def _kept(path: Path, title: str, task: str = "") -> Path:
    """The folder in which the conversion of the checkpoint at `path` is kept; `task`: that of a model that does not say what it is for."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", f"{title} {task}").strip("-")
    return models_folder() / f"{name}-{_key(path)}"


def _key(path: Path) -> str:
    """A hash of names, sizes and modification times of the files at and beside `path`; reading their content would take long."""
    folder = path if path.is_dir() else path.parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.suffix in _READ)
    digest = hashlib.sha256(f"{_VERSION} {path.resolve()}".encode())
    for file in files:
        seen = file.stat()
        digest.update(f"{file.name} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:12]
