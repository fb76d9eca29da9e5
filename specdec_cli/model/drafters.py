"""The kinds of trained drafters in a bundle."""

from collections.abc import Mapping
from typing import Any

from specdec_cli.errors import ModelError
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.heads import Heads
from specdec_cli.model.heads_config import HeadsConfig
from specdec_cli.model.transformer import Transformer

AnyDrafter = BlockDrafter | Heads
AnyDrafterConfig = DrafterConfig | HeadsConfig


def drafter_config(values: Mapping[str, Any]) -> AnyDrafterConfig:
    """The configuration of the kind that `values` name; a block drafter if they name none. Raises ModelError."""
    kind = values.get("kind", "block")
    if kind not in ("block", "heads"):
        raise ModelError(f"kind must be block or heads, not {kind!r}")
    return HeadsConfig.from_dict(values) if kind == "heads" else DrafterConfig.from_dict(values)


def make_drafter(config: AnyDrafterConfig, verifier: Transformer, dropout: float = 0.0) -> AnyDrafter:
    """An untrained drafter for `verifier`. Raises ModelError for inconsistent sizes."""
    return Heads(config, verifier, dropout) if isinstance(config, HeadsConfig) else BlockDrafter(config, verifier, dropout)
