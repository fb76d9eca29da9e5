"""The shipped bundles with an engine that stores its hypotheses in pytest's cache, so that a second run decodes nothing."""

from typing import Any

import pytest

from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.model.bundle_info import Described
from tools import stored_engine


def opened(bundle: str, cache: pytest.Cache, **changes: Any) -> tuple[Described, SentenceDecoder]:
    """A shipped bundle, and an engine that stores its hypotheses."""
    return stored_engine.opened(bundle, cache.mkdir("decoded"), stored_engine.native_library(), **changes)
