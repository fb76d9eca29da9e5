"""Detection of another toolkit's model, and its conversion to a bundle."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from converters.checkpoints import check_memory
from converters.conversion import Conversion, ConversionOptions
from converters.fairseq import from_fairseq, is_fairseq
from converters.huggingface import from_huggingface, is_huggingface
from converters.marian import from_marian, is_marian
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle_info import Task


@dataclass(frozen=True)
class Reader:
    """A format that can be converted to a bundle: a function that recognises a path of this format, and the conversion.

    `convert` gets a path and the fields of ConversionOptions. It raises ModelError; a KeyError, TypeError, ValueError, IndexError or
    AttributeError also means that the model is not valid.
    """

    recognises: Callable[[Path], bool]
    convert: Callable[[Path, str, str, Task | None, tuple[int, ...] | None], Conversion]


READERS: Mapping[str, Reader] = {
    "huggingface": Reader(is_huggingface, from_huggingface),
    "marian": Reader(is_marian, from_marian),
    "fairseq": Reader(is_fairseq, from_fairseq),
}
"""The formats that can be converted to bundles, by the name of the toolkit."""


def find_format(path: Path) -> str | None:
    """The name of the format of the model at `path`; None if no reader recognises it."""
    return next((name for name, reader in READERS.items() if reader.recognises(path)), None)


def convert_model(path: Path, name: str | None, options: ConversionOptions) -> Conversion:
    """Convert the model at `path` of the format `name` (None: the format is detected) to a bundle.

    Matrices keep the number format of the file, and their memory is that of the mapped file where this is possible. Raises ModelError for a
    model of no known format, one that cannot be converted or that needs more memory than is free, and UsageError for an unknown `name`.
    """
    if name is not None and name not in READERS:
        raise UsageError(f"format {name}: not known; known are bundle, {', '.join(READERS)}")
    name = name or find_format(path)
    if name is None:
        raise ModelError(f"{path}: neither a bundle nor a model of {', '.join(READERS)}")
    check_memory(path)
    try:
        return READERS[name].convert(path, options.source_language, options.target_language, options.task, options.decoder_layers)
    except ModelError as error:
        raise error if str(path) in str(error) else ModelError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        # A setting is missing, has another type, or has a value that makes the conversion fail, such as a size of 0.
        raise ModelError(f"{path}: not a valid {name} model ({type(error).__name__}: {error})") from error
