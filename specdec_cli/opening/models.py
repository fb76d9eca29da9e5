"""Search for bundles and recipes by name, and loading of bundles."""

from pathlib import Path
from typing import TYPE_CHECKING

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.opening.machine import Machine, move_to
from specdec_cli.opening.model_cache import converted
from specdec_cli.opening.model_choice import ModelChoice

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.model.bundle_info import Task
    from specdec_cli.text.folding import Order

SHIPPED = Path(__file__).parent.parent / "bundles"
RECIPES = Path(__file__).parent.parent / "recipes"
TRAINING_FILES = ("checkpoint.pt", "metrics.csv")
"""Names of files that training writes into the folder of a bundle, but that are not part of the bundle."""


def find_bundle(model: str | ModelChoice) -> Path:
    """The folder of a bundle that is given as a path or as the name of a shipped bundle.

    Another toolkit's model (a path, or a name on the hub) is converted, and the folder is that of the cached result. Raises
    ModelError, naming the shipped bundles, if there is no such model, and for a model that cannot be converted.
    """
    chosen = ModelChoice(model) if isinstance(model, str) else model
    folder = Path(chosen.name)
    if (folder / "bundle.json").exists():
        return folder
    if (SHIPPED / chosen.name / "bundle.json").exists():
        return SHIPPED / chosen.name
    found = converted(chosen)
    if found is not None:
        return found
    known = ", ".join(shipped_bundles()) or "none"
    what = "contains neither bundle.json nor another toolkit's model" if folder.is_dir() else "not a folder"
    raise ModelError(f"{chosen.name}: {what}, and no shipped bundle has that name (there are: {known})")


def bundle_task(model: str | ModelChoice) -> "Task":
    """The task of a bundle, read without loading the weights. Raises ModelError as `find_bundle` and `read_info` do."""
    from specdec_cli.model.bundle_info import read_info

    return read_info(find_bundle(model)).task


def beam_defaults(model: str | ModelChoice) -> tuple[int, float]:
    """The default beam size and length penalty of a bundle, read without loading the weights. Raises ModelError as `bundle_task` does."""
    from specdec_cli.decoding.names import BEAM_SIZE
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


def open_bundle(model: str | ModelChoice, machine: Machine, *, same_drafts: bool = False) -> "Bundle":
    """Load a bundle and move it to the device and precision of `machine`, with `same_drafts` as in `move_to`.

    Raises ModelError if it is missing or malformed.
    """
    from specdec_cli.model.bundle import load_bundle

    chosen = ModelChoice(model) if isinstance(model, str) else model
    bundle = load_bundle(find_bundle(chosen), chosen.source_language, chosen.target_language)
    return move_to(machine, bundle, same_drafts=same_drafts)


def find_recipe(name: str | None) -> Path | None:
    """The file of a recipe that is given as a path or as the name of a shipped recipe; None for None.

    Raises UsageError, naming the shipped recipes, if there is no such file or recipe.
    """
    if name is None or Path(name).exists():
        return None if name is None else Path(name)
    shipped = RECIPES / f"{name}.toml"
    if not shipped.exists():
        known = ", ".join(sorted(path.stem for path in RECIPES.glob("*.toml")))
        raise UsageError(f"--recipe {name}: no such file, and not one of the shipped recipes: {known}")
    return shipped
