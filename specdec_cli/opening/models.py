"""Models by name: the choice of a model, the search for its bundle, and its loading."""

from pathlib import Path
from typing import TYPE_CHECKING

from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.language_codes import short_code
from specdec_cli.model.bundle_info import BundleInfo, Task, read_info, read_shape, weights_file
from specdec_cli.model.order import Order
from specdec_cli.opening.choice import ModelChoice as ModelChoice
from specdec_cli.opening.conversions import Tell, converted, load_checkpoint, silent
from specdec_cli.opening.machine import Machine, move_to

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle

MUCH_SMALLER = 3
"""`auto` uses a shipped bundle as draft model only if the verifier's weights file is at least this many times as large."""
SHIPPED = Path(__file__).parent.parent / "bundles"
TRANSLATOR, CORRECTOR = "en-de", "en-gec"
"""The shipped bundles that translate and correct if nothing else is asked for."""
TRAINING_FILES = ("checkpoint.pt", "metrics.csv")
"""Names of files that training writes into the folder of a bundle, but that are not part of the bundle."""


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
    bundle = converted(chosen, tell)
    if bundle is not None:
        return bundle
    names = ", ".join(shipped_bundles()) or "none"
    what = "contains neither bundle.json nor another toolkit's model" if folder.is_dir() else "not a folder"
    raise ModelError(f"{chosen.name}: {what}, and no shipped bundle has that name (there are: {names})")


def bundle_task(model: str | ModelChoice) -> Task:
    """The task of a bundle, read without loading the weights. Raises ModelError as `find_bundle` and `read_info` do."""
    return read_info(find_bundle(model)).task


def bundle_direction(model: str | ModelChoice) -> tuple[str, str]:
    """Source and target language of a bundle, as two-letter codes, read without loading the weights. Raises what `bundle_task` raises."""
    info = read_info(find_bundle(model))
    return short_code(info.source_language), short_code(info.target_language)


def beam_defaults(model: str | ModelChoice) -> tuple[int, float]:
    """The default beam size and length penalty of a bundle, read without loading the weights. Raises ModelError as `bundle_task` does."""
    info = read_info(find_bundle(model))
    return info.beam_size or BEAM_SIZE, info.length_penalty


def bundle_order(model: str | ModelChoice) -> Order:
    """Read the generation order of a bundle, without its weights. Raises ModelError for a missing bundle or an invalid configuration."""
    return read_shape(find_bundle(model)).order


def shipped_bundles() -> list[str]:
    """The names of the bundles that are installed with specdec, sorted."""
    return sorted(path.parent.name for path in SHIPPED.glob("*/bundle.json"))


def served_bundles() -> list[str]:
    """The names of the shipped bundles, the one that translates without a choice first."""
    return sorted(shipped_bundles(), key=lambda name: name != TRANSLATOR)


def chosen_translator(
    name: str | None, source_language: str = "", target_language: str = "", *, offline: bool = False, instruction: str | None = None
) -> ModelChoice:
    """The model `name`, for these languages; without a name, the shipped bundle that translates from and into those that are given.

    Regions of languages are ignored; `instruction` is that of ModelChoice. Raises UsageError if no shipped bundle has this direction.
    """
    if name is not None:
        return ModelChoice(name, source_language, target_language, offline, instruction, "translate")
    if not source_language and not target_language:
        return ModelChoice(TRANSLATOR, offline=offline, instruction=instruction)
    directions = shipped_directions()
    requested = short_code(source_language), short_code(target_language)
    for bundle, direction in directions.items():
        if all(wanted in ("", language) for wanted, language in zip(requested, direction, strict=True)):
            return ModelChoice(bundle, offline=offline, instruction=instruction)
    wanted = " ".join(f"{word} {code}" for word, code in (("from", source_language), ("to", target_language)) if code)
    listed = ", ".join(f"{bundle} from {language[0]} to {language[1]}" for bundle, language in directions.items()) or "none"
    raise UsageError(f"no shipped bundle translates {wanted} (there are: {listed}); --model names another model")


def shipped_directions() -> dict[str, tuple[str, str]]:
    """Source and target language, as two-letter codes, of each shipped bundle that translates, in the order of `served_bundles`."""
    return {name: bundle_direction(name) for name in served_bundles() if bundle_task(name) == "translate"}


def shipped_draft_model(folder: Path, info: BundleInfo) -> str:
    """The name of the shipped bundle that `auto` uses as draft model for the bundle in `folder`; "" for none.

    It is the one for the same languages. The bundle must be a translator without a drafter that writes from left to right, with a weights
    file at least MUCH_SMALLER times as large. Raises ModelError for a damaged configuration.
    """
    leaves_it = info.decoding == "auto" and info.task == "translate" and not (folder / "drafter").exists()
    if not leaves_it or not weights_file(folder).exists() or read_shape(folder).order != "left-to-right":
        return ""
    languages = tuple(map(short_code, (info.source_language, info.target_language)))
    for name, direction in shipped_directions().items():
        size, other = (weights_file(each).stat().st_size for each in (folder, SHIPPED / name))
        if direction == languages and size >= MUCH_SMALLER * other:
            return name
    return ""


def open_bundle(model: str | ModelChoice, machine: Machine, *, same_drafts: bool = False, network_only: bool = False) -> "Bundle":
    """Load a bundle and move it to the device and precision of `machine`, with `same_drafts` as in `move_to`. The weights are those of the
    checkpoint, if it is a converted one, unless they are used in int8 on a CPU.

    With `network_only` its drafter is left out, and PyTorch has no weights of a verifier that the native engine computes.

    Raises ModelError if it is missing or malformed.
    """
    from specdec_cli.model.bundle import load_bundle

    chosen = ModelChoice(model) if isinstance(model, str) else model
    folder, languages = find_bundle(chosen), (chosen.source_language, chosen.target_language)
    if (machine.device, machine.precision) == ("cpu", "int8"):
        bundle = load_bundle(
            folder, *languages, instruction=chosen.instruction, in_int8=True, weights=not (network_only and machine.native)
        )
    else:
        bundle = load_checkpoint(folder, *languages, instruction=chosen.instruction, offline=chosen.offline)
    if network_only:
        bundle.drafter = None
    return move_to(machine, bundle, same_drafts=same_drafts)
