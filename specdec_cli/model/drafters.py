"""The kinds of trained drafters in a bundle."""

from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_configs import AnyDrafterConfig
from specdec_cli.model.heads import Heads
from specdec_cli.model.heads_config import HeadsConfig
from specdec_cli.model.transformer import Transformer

AnyDrafter = BlockDrafter | Heads


def make_drafter(config: AnyDrafterConfig, verifier: Transformer, dropout: float = 0.0) -> AnyDrafter:
    """An untrained drafter for `verifier`. Raises ModelError for inconsistent sizes."""
    return Heads(config, verifier, dropout) if isinstance(config, HeadsConfig) else BlockDrafter(config, verifier, dropout)
