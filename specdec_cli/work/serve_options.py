"""What the options of `specdec serve` say, as records: the addresses of the server, and its models."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.console.options import DecodingFlags, GlossaryOptions, IgnoreOptions
from specdec_cli.opening.machine import MachineOptions


@dataclass(frozen=True)
class Addresses:
    """Where the server listens: at `host` and `port` if `uses_tcp`, and on the Unix socket `unix` if that is not None."""

    host: str
    port: int
    unix: Path | None
    uses_tcp: bool


@dataclass(frozen=True)
class Served:
    """The models that are served, and what the options say of them."""

    names: Sequence[str]
    instruction: str | None
    glossary: GlossaryOptions
    ignoring: IgnoreOptions
    decoding: DecodingFlags
    machine: MachineOptions
