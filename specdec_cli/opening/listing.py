"""The list of models: the bundles that ship with the toolkit, and those that were converted from other toolkits' models."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specdec_cli.model.bundle_info import BundleInfo, Task, read_info
from specdec_cli.opening.conversions import Tell, cached_bundles, silent
from specdec_cli.opening.models import TRAINING_FILES, ModelChoice, find_bundle, shipped_bundles, shipped_draft_model


@dataclass(frozen=True)
class ListedModel:
    """A model that is there.

    - `name`: what `Translator`, `Corrector` and `--model` take; of a converted model, the name of its folder in the cache.
    - `path`: the folder of its bundle; `shipped`: it came with the toolkit.
    - `decoding`, `block_size`: how it decodes if nothing else is asked for; a block size of 0 is the decoding's.
    - `draft_model`: the shipped bundle that drafts for it if nothing else is asked for, "" for none.
    - `size`: the bytes of its files; `licence`: "" if the bundle names none.
    """

    name: str
    path: Path
    shipped: bool
    task: Task
    source_language: str
    target_language: str
    decoding: str
    block_size: int
    draft_model: str
    size: int
    licence: str

    def to_json(self) -> dict[str, Any]:
        """The fields by name, for JSON."""
        return asdict(self) | {"path": str(self.path)}


def models() -> list[ListedModel]:
    """List the bundles that ship with the toolkit, then those in the cache, each sorted by name. Raises ModelError for a damaged one."""
    return [*describe(shipped_bundles()), *(_listed(folder.name, folder) for folder in cached_bundles())]


def describe(names: Iterable[str], tell: Tell = silent) -> list[ListedModel]:
    """Describe the models with these names or paths; another toolkit's model is converted first. Raises ModelError."""
    return [_listed(name, find_bundle(ModelChoice(name, offline=True), tell)) for name in names]


def _listed(name: str, folder: Path) -> ListedModel:
    info: BundleInfo = read_info(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name not in TRAINING_FILES)
    return ListedModel(
        name,
        folder,
        name in shipped_bundles(),
        info.task,
        info.source_language,
        info.target_language,
        info.decoding,
        info.block_size,
        shipped_draft_model(folder, info),
        size,
        info.licence,
    )
