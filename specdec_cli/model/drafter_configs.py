"""The configurations of the kinds of trained drafters."""

from collections.abc import Mapping
from typing import Any

from specdec_cli.errors import ModelError
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.heads_config import HeadsConfig

AnyDrafterConfig = DrafterConfig | HeadsConfig


def drafter_config(values: Mapping[str, Any]) -> AnyDrafterConfig:
    """The configuration of the kind that `values` name; a block drafter if they name none. Raises ModelError."""
    kind = values.get("kind", "block")
    if kind not in ("block", "heads"):
        raise ModelError(f"kind must be block or heads, not {kind!r}")
    return HeadsConfig.from_dict(values) if kind == "heads" else DrafterConfig.from_dict(values)
