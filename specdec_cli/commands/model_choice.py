"""Which model a command works with."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelChoice:
    """A model by path or name, and the languages to use of one that knows several.

    With `offline` it is not downloaded; with `quiet` nothing is printed about its conversion.
    """

    name: str
    source_language: str = ""
    target_language: str = ""
    offline: bool = False
    quiet: bool = False
