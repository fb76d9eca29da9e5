"""The configurations of both kinds of trained drafters."""

from collections.abc import Mapping
from typing import Any

from specdec_cli.errors import ModelError
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.heads_config import HeadsConfig

AnyDrafterConfig = DrafterConfig | HeadsConfig


def drafter_config(values: Mapping[str, Any]) -> AnyDrafterConfig:
    """Make the configuration of a drafter from `values`: of heads if the key "kind" is "heads", else of a block
    drafter.

    Raises ModelError for another kind, an unknown key or an invalid value.
    """
    kind = values.get("kind", "block")
    if kind not in ("block", "heads"):
        raise ModelError(f"kind must be block or heads, not {kind!r}")
    return HeadsConfig.from_dict(values) if kind == "heads" else DrafterConfig.from_dict(values)
