"""Speculative decoding for sequence-to-sequence models: the same output as greedy decoding, in fewer steps.

`Translator` and `Corrector` are the Python API, and `models` lists what they can open. An import of the package loads nothing else: names
are resolved when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specdec_cli.api import Corrector, Translator
    from specdec_cli.decoding.options import DecodingOptions
    from specdec_cli.errors import InputError, ModelError, SpecdecError, UsageError
    from specdec_cli.opening.listing import ListedModel, models
    from specdec_cli.pipeline.corrector import Correction
    from specdec_cli.pipeline.translator import Translation
    from specdec_cli.text.edits import Edit
    from specdec_cli.version import __version__

__all__ = [
    "Correction",
    "Corrector",
    "DecodingOptions",
    "Edit",
    "InputError",
    "ListedModel",
    "ModelError",
    "SpecdecError",
    "Translation",
    "Translator",
    "UsageError",
    "__version__",
    "models",
]
_MODULES = {
    "Correction": "pipeline.corrector",
    "Corrector": "api",
    "DecodingOptions": "decoding.options",
    "Edit": "text.edits",
    "InputError": "errors",
    "ListedModel": "opening.listing",
    "ModelError": "errors",
    "SpecdecError": "errors",
    "Translation": "pipeline.translator",
    "Translator": "api",
    "UsageError": "errors",
    "__version__": "version",
    "models": "opening.listing",
}


def __getattr__(name: str) -> object:
    """Import a name of the API when it is first used (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
