"""Similarity of sentences, which RapidFuzz computes."""

from collections.abc import Callable
from typing import Any

from specdec_cli.errors import MissingLibraryError


def load_rapidfuzz() -> tuple[Callable[..., Any], Callable[..., float]]:
    """Return RapidFuzz's functions `extractOne` and `ratio`. Raises UsageError if it is not installed."""
    try:
        from rapidfuzz import fuzz, process
    except ImportError:
        raise MissingLibraryError("similar sentences are found by RapidFuzz", "documents") from None
    return process.extractOne, fuzz.ratio
