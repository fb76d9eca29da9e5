"""Similarity of sentences, which RapidFuzz computes."""

from collections.abc import Callable
from typing import Any

from specdec_cli.errors import UsageError


def load_rapidfuzz() -> tuple[Callable[..., Any], Callable[..., float]]:
    """Return RapidFuzz's functions `extractOne` and `ratio`. Raises UsageError if it is not installed."""
    try:
        from rapidfuzz import fuzz, process
    except ImportError:
        raise UsageError("similar sentences are found by RapidFuzz: pip install 'specdec[documents]'") from None
    return process.extractOne, fuzz.ratio
