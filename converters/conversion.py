"""What a conversion is asked for, and its result."""

from dataclasses import dataclass, field
from pathlib import Path

from converters.equalise import equalise
from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.storage import Parts, Storage, Written, join_parts, unseen


class UnknownTask(ModelError):
    """The files of a model do not say what it is for, and no task was requested."""


@dataclass(frozen=True)
class ConversionOptions:
    """Options of a conversion: languages ("": those of the model), task (None: that of the model), and the indices of the
    decoder layers to keep (None: all).
    """

    source_language: str = ""
    target_language: str = ""
    task: Task | None = None
    decoder_layers: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Conversion:
    """A converted model, and those settings of the original (`name=value`) that affect its output but that bundles
    do not support.

    The weights are those of the mapped file where this is possible: `parts` has those that are several matrices there. `bundle` is for its
    description alone; `joined` has all weights in memory.
    """

    bundle: Bundle
    dropped_settings: tuple[str, ...] = ()
    parts: Parts = field(default_factory=dict)

    def joined(self) -> Bundle:
        """The bundle with its parts joined, in the number format of the file."""
        join_parts(self.bundle.verifier, self.parts)
        return self.bundle

    def equalise(self) -> int:
        """Balance the ranges of units for int8 without a change of the function, see `equalise`; return the number of changed units."""
        return equalise(self.bundle.verifier, self.parts)

    def save(self, folder: Path, storage: Storage = "float32", written: Written = unseen) -> None:
        """Write the bundle to `folder` as `save_bundle` does, with one joined matrix in memory at a time."""
        save_bundle(self.bundle, folder, storage, self.parts, written)
