"""Model formats of other toolkits: a registry of converters, and conversion from and to bundles.

A converter package registers its formats when it is imported; this package imports none of its modules by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.bundle_info import Task

PLUGINS = ("converters.formats",)
"""Names of the modules that register formats; they are imported on the first use of a format."""


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


@dataclass(frozen=True)
class Reader:
    """A format that can be converted to a bundle: a function that recognises a path of this format, and the
    conversion.

    `convert` raises ModelError; a KeyError, TypeError, ValueError, IndexError or AttributeError also means that the
    model is not valid.
    """

    recognises: Callable[[Path], bool]
    convert: Callable[[Path, ConversionOptions], Conversion]


class Writer(Protocol):
    """Protocol of a function that writes a bundle in the format of another toolkit."""

    def __call__(
        self,
        bundle: Bundle,
        output: Path,
        quantization: str | None = None,
        force: bool = False,
        prove: Callable[[Path], None] | None = None,
    ) -> None:
        """Write `bundle` to the new folder `output`; after an error the folder is not there. `force` replaces a
        folder of the same format.

        `quantization` is the number format of the weights (None: float32). `prove` is called with the finished
        folder before that is moved to `output`. Raises UsageError for a folder that may not be replaced, ModelError
        for a bundle that the format cannot represent.
        """


_READERS: dict[str, Reader] = {}
_WRITERS: dict[str, Writer] = {}


def register_reader(name: str, reader: Reader) -> None:
    """Register `reader` as the format `name`, which is the name of a toolkit."""
    _READERS[name] = reader


def register_writer(name: str, writer: Writer) -> None:
    """Register `writer` as the format `name`."""
    _WRITERS[name] = writer


def readers() -> Mapping[str, Reader]:
    """The formats that can be converted to bundles, by name."""
    _import_plugins()
    return _READERS


def find_writer(name: str) -> Writer:
    """The writer of the format `name`. Raises UsageError for an unknown format."""
    _import_plugins()
    if name not in _WRITERS:
        raise UsageError(f"format {name}: not known; known are {', '.join(_WRITERS) or 'none'}")
    return _WRITERS[name]


@cache
def _import_plugins() -> None:
    for name in PLUGINS:
        import_module(name)


def find_format(path: Path) -> str | None:
    """The name of the format of the model at `path`; None if no registered reader recognises it."""
    return next((name for name, reader in readers().items() if reader.recognises(path)), None)


def convert_model(path: Path, name: str | None, options: ConversionOptions) -> Conversion:
    """Convert the model at `path` of the format `name` (None: the format is detected) to a bundle.

    Raises ModelError for a model of no known format or one that cannot be converted, and UsageError for an unknown
    `name`.
    """
    if name is not None and name not in readers():
        raise UsageError(f"format {name}: not known; known are bundle, {', '.join(readers())}")
    name = name or find_format(path)
    if name is None:
        raise ModelError(f"{path}: neither a bundle nor a model of {', '.join(readers())}")
    try:
        return readers()[name].convert(path, options)
    except ModelError as error:
        raise error if str(path) in str(error) else ModelError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        # A setting is missing, has another type, or has a value that makes the conversion fail, such as a size of 0.
        raise ModelError(f"{path}: not a valid {name} model ({type(error).__name__}: {error})") from error
