"""Models by name: the choice of a model, the search for its bundle, and the cache of models converted from other toolkits."""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import cache_folder, new_folder
from specdec_cli.opening.machine import Machine, move_to
from specdec_cli.text.locale.languages import short_code

if TYPE_CHECKING:
    from converters.conversion import Conversion
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.model.bundle_info import Task
    from specdec_cli.text.folding import Order

Tell = Callable[[str], None]
"""Called with a message for the user, such as that a model is being converted."""
SHIPPED = Path(__file__).parent.parent / "bundles"
TRANSLATOR, CORRECTOR = "en-de", "en-gec"
"""The shipped bundles that translate and correct if nothing else is asked for."""
TRAINING_FILES = ("checkpoint.pt", "metrics.csv")
"""Names of files that training writes into the folder of a bundle, but that are not part of the bundle."""
_VERSION = 2
"""The version of the cache format, part of the key of every converted model; raise it when the output of a conversion changes."""
_READ = (".json", ".safetensors", ".bin", ".npz", ".pt", ".spm", ".model", ".txt", ".bpe", ".codes", ".yml", "")
"""Suffixes of the files that a conversion may read; changes of other files, such as logs, do not change the key of a model."""


def silent(message: str) -> None:
    """Ignore a message."""


@dataclass(frozen=True)
class ModelChoice:
    """The path or name of a model, and its languages ("": the bundle's), which matter for a multilingual model.

    With `offline` the model is not downloaded.
    """

    name: str
    source_language: str = ""
    target_language: str = ""
    offline: bool = False

    def absolute(self) -> Self:
        """The same model, with an absolute path if it is given as a path, for processes with another working folder."""
        path = Path(self.name)
        return replace(self, name=str(path.resolve())) if path.exists() else self


def find_bundle(model: str | ModelChoice, tell: Tell = silent) -> Path:
    """The folder of a bundle that is given as a path or as the name of a shipped bundle.

    Another toolkit's model (a path, or a name on the hub) is converted, and the folder is that of the cached result; `tell` is called
    if that takes place. Raises ModelError, naming the shipped bundles, if there is no such model, and for a model that cannot be converted.
    """
    chosen = ModelChoice(model) if isinstance(model, str) else model
    folder = Path(chosen.name)
    if (folder / "bundle.json").exists():
        return folder
    if (SHIPPED / chosen.name / "bundle.json").exists():
        return SHIPPED / chosen.name
    found = converted(chosen, tell)
    if found is not None:
        return found
    known = ", ".join(shipped_bundles()) or "none"
    what = "contains neither bundle.json nor another toolkit's model" if folder.is_dir() else "not a folder"
    raise ModelError(f"{chosen.name}: {what}, and no shipped bundle has that name (there are: {known})")


def bundle_task(model: str | ModelChoice) -> "Task":
    """The task of a bundle, read without loading the weights. Raises ModelError as `find_bundle` and `read_info` do."""
    from specdec_cli.model.bundle_info import read_info

    return read_info(find_bundle(model)).task


def bundle_direction(model: str | ModelChoice) -> tuple[str, str]:
    """Source and target language of a bundle, as two-letter codes, read without loading the weights. Raises what `bundle_task` raises."""
    from specdec_cli.model.bundle_info import read_info

    info = read_info(find_bundle(model))
    return short_code(info.source_language), short_code(info.target_language)


def beam_defaults(model: str | ModelChoice) -> tuple[int, float]:
    """The default beam size and length penalty of a bundle, read without loading the weights. Raises ModelError as `bundle_task` does."""
    from specdec_cli.decoding.methods import BEAM_SIZE
    from specdec_cli.model.bundle_info import read_info

    info = read_info(find_bundle(model))
    return info.beam_size or BEAM_SIZE, info.length_penalty


def bundle_order(model: str | ModelChoice) -> "Order":
    """Read the generation order of a bundle, without its weights. Raises ModelError for a missing bundle or an invalid configuration."""
    from specdec_cli.model.bundle_info import read_shape

    return read_shape(find_bundle(model)).order


def shipped_bundles() -> list[str]:
    """The names of the bundles that are installed with specdec, sorted."""
    return sorted(path.parent.name for path in SHIPPED.glob("*/bundle.json"))


def served_bundles() -> list[str]:
    """The names of the shipped bundles, the one that translates without a choice first."""
    return sorted(shipped_bundles(), key=lambda name: name != TRANSLATOR)


def chosen_translator(name: str | None, source_language: str = "", target_language: str = "", *, offline: bool = False) -> ModelChoice:
    """The model `name`, for these languages; without a name, the shipped bundle that translates from and into those that are given.

    Regions of languages are ignored. Raises UsageError if no shipped bundle has this direction.
    """
    if name is not None:
        return ModelChoice(name, source_language, target_language, offline)
    if not source_language and not target_language:
        return ModelChoice(TRANSLATOR, offline=offline)
    known = shipped_directions()
    asked = short_code(source_language), short_code(target_language)
    for bundle, direction in known.items():
        if all(wanted in ("", own) for wanted, own in zip(asked, direction, strict=True)):
            return ModelChoice(bundle, offline=offline)
    wanted = " ".join(f"{word} {code}" for word, code in (("from", source_language), ("to", target_language)) if code)
    listed = ", ".join(f"{bundle} from {own[0]} to {own[1]}" for bundle, own in known.items()) or "none"
    raise UsageError(f"no shipped bundle translates {wanted} (there are: {listed}); --model names another model")


def shipped_directions() -> dict[str, tuple[str, str]]:
    """Source and target language, as two-letter codes, of each shipped bundle that translates, in the order of `served_bundles`."""
    return {name: bundle_direction(name) for name in served_bundles() if bundle_task(name) == "translate"}


def open_bundle(model: str | ModelChoice, machine: Machine, *, same_drafts: bool = False) -> "Bundle":
    """Load a bundle and move it to the device and precision of `machine`, with `same_drafts` as in `move_to`.

    Raises ModelError if it is missing or malformed.
    """
    from specdec_cli.model.bundle import load_bundle

    chosen = ModelChoice(model) if isinstance(model, str) else model
    bundle = load_bundle(find_bundle(chosen), chosen.source_language, chosen.target_language)
    return move_to(machine, bundle, same_drafts=same_drafts)


def models_folder() -> Path:
    """The folder of converted models, in the user's cache folder."""
    return cache_folder() / "models"


def cached_bundles() -> Iterator[Path]:
    """The folders of the converted bundles in the cache, sorted."""
    return iter(sorted(path.parent for path in models_folder().glob("*/bundle.json")))


def converted(chosen: ModelChoice, tell: Tell = silent) -> Path | None:
    """The folder of the bundle that another toolkit's model (a folder, a file, or a name on the hub) was converted to.

    The model is converted if the cache has no bundle of it. `chosen` may also name a bundle in the cache. None if there is no such
    model. Raises ModelError for a model that cannot be converted, and UsageError if a language is missing or unknown.
    """
    from specdec_cli.model.hub import fetch, is_hub_name

    path = Path(chosen.name)
    if not path.exists():
        if (models_folder() / path / "bundle.json").exists():
            return models_folder() / path
        if not is_hub_name(chosen.name):
            return None
    from converters.conversion import ConversionOptions
    from converters.formats import convert_model, find_format
    from specdec_cli.model.bundle import save_bundle

    if path.exists():
        if find_format(path) is None:
            return None
        title = path.resolve().name
    else:
        path, title = fetch(chosen.name, None, chosen.offline), chosen.name
    folder = models_folder() / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', title).strip('-')}-{_key(path)}"
    if not (folder / "bundle.json").exists():
        tell(f"{chosen.name}: converting to {folder}")
        conversion = convert_model(path, None, ConversionOptions(chosen.source_language, chosen.target_language))
        tell_dropped(conversion, chosen.name, tell)
        _forget_languages(conversion, chosen)
        try:
            with new_folder(folder, "bundle.json", force=False) as partial:
                save_bundle(conversion.bundle, partial)
        except UsageError:
            # Another process has converted the same model meanwhile.
            if not (folder / "bundle.json").exists():
                raise
    return folder


def tell_dropped(conversion: "Conversion", name: str, tell: Tell) -> None:
    """Tell the settings of the original model `name` that affect its output and that bundles do not support, if there are any."""
    if conversion.dropped_settings:
        tell(f"warning: {name}: unsupported settings: {', '.join(conversion.dropped_settings)}")


def _forget_languages(conversion: "Conversion", chosen: ModelChoice) -> None:
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
