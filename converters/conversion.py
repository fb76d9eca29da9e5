"""What every converter hands over."""

from dataclasses import dataclass

from specdec_cli.model.bundle import Bundle


@dataclass(frozen=True)
class Conversion:
    """A converted model, and what of its settings our decoding has no word for."""

    bundle: Bundle
    left_behind: tuple[str, ...] = ()
