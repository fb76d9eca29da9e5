"""Models that draft for another one: how they are found, checked and loaded."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from specdec_cli.errors import UsageError
from specdec_cli.language_codes import short_code
from specdec_cli.model.bundle_info import BundleInfo, Described, read_info
from specdec_cli.model.config import TransformerConfig
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import ModelChoice, find_bundle, open_bundle

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle


class Load(Protocol):
    """Protocol of what loads a bundle for PyTorch, as `open_bundle` does."""

    def __call__(self, model: ModelChoice, machine: Machine, /, *, same_drafts: bool = False, network_only: bool = False) -> "Bundle":
        """Load the bundle of `model` on `machine`."""


def open_draft_model(model: ModelChoice, bundle: Described, name: str, machine: Machine, load: Load = open_bundle) -> "Bundle":
    """Load the bundle `name`, which drafts for `bundle`, the one of `model`, on the same machine.

    Raises ModelError if there is none, and UsageError for one of another task or other languages, or of another order than left to right.
    """
    folder, languages = find_draft_model(model, bundle, name)
    loaded = load(ModelChoice(str(folder), *languages, model.offline), machine, network_only=True)
    check_orders(name, loaded.shape, bundle.shape)
    return loaded


def find_draft_model(model: ModelChoice, bundle: Described, name: str) -> tuple[Path, tuple[str, str]]:
    """The folder of the bundle `name`, which drafts for `bundle`, the one of `model`; and the languages between which it translates.

    Raises ModelError if there is none, and UsageError for one of another task or other languages.
    """
    info = bundle.info
    folder = find_bundle(ModelChoice(name, info.source_language, info.target_language, model.offline))
    other = read_info(folder)
    check_drafts_for(name, other, info)
    # A multilingual model translates between the languages of the other one.
    return folder, (other.source_language or info.source_language, other.target_language or info.target_language)


def check_orders(name: str, other: TransformerConfig, own: TransformerConfig) -> None:
    """Raise UsageError unless the model `name` and the one that it drafts for write from left to right."""
    for which, shape in ((f"--draft-model {name}", other), ("--draft-model: the model", own)):
        if shape.order != "left-to-right":
            raise UsageError(f"{which}: its order is {shape.order}; drafts by another model are for models that write from left to right")


def check_drafts_for(name: str, other: BundleInfo, own: BundleInfo) -> None:
    """Raise UsageError unless the outputs of the bundle `name` can be drafts for those of another bundle, the `own` one."""
    if own.task != other.task:
        raise UsageError(f"--draft-model {name}: its task is {other.task}, that of the model is {own.task}")
    for word, wanted, there in (
        ("from", own.source_language, other.source_language),
        ("to", own.target_language, other.target_language),
    ):
        if wanted and there and short_code(wanted) != short_code(there):
            raise UsageError(f"--draft-model {name}: it translates {word} {there}, the model {word} {wanted}")
