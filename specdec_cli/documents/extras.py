"""Import of the libraries that documents need, with a message for one that is missing."""

import importlib
from typing import Any

from specdec_cli.errors import MissingLibraryError


def load_library(name: str, file: str) -> Any:
    """Import the module `name` for the document `file`. Raises UsageError, naming the extra, if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibraryError(f"{file}: this format needs {name.partition('.')[0]}", "documents") from error
