"""What a conversion is asked for, and its result."""

from dataclasses import dataclass

from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.bundle_info import Task


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
    """

    bundle: Bundle
    dropped_settings: tuple[str, ...] = ()
