"""The result of a conversion."""

from dataclasses import dataclass

from specdec_cli.model.bundle import Bundle


@dataclass(frozen=True)
class Conversion:
    """A converted model, and the settings of the original (`name=value`) that affect its output but are not supported."""

    bundle: Bundle
    dropped_settings: tuple[str, ...] = ()
