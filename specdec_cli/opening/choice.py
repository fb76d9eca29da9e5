"""The choice of a model: a path or a name, and languages."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from specdec_cli.model.bundle_info import Task


@dataclass(frozen=True)
class ModelChoice:
    """The path or name of a model, and its languages ("": the bundle's), which matter for a multilingual model.

    With `offline` the model is not downloaded. `instruction` are the words in front of each source ("": none; None: the bundle's), and
    `task` is what another toolkit's model is for if it does not say so itself.
    """

    name: str
    source_language: str = ""
    target_language: str = ""
    offline: bool = False
    instruction: str | None = None
    task: "Task | None" = None

    def absolute(self) -> Self:
        """The same model, with an absolute path if it is given as a path, for processes with another working folder."""
        path = Path(self.name)
        return replace(self, name=str(path.resolve())) if path.exists() else self
