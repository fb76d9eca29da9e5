"""Construction of a trained drafter of either kind."""

from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_configs import AnyDrafterConfig
from specdec_cli.model.heads import Heads
from specdec_cli.model.heads_config import HeadsConfig
from specdec_cli.model.transformer import Transformer

AnyDrafter = BlockDrafter | Heads


def make_drafter(config: AnyDrafterConfig, verifier: Transformer, dropout: float = 0.0) -> AnyDrafter:
    """Make a drafter for `verifier`, with random weights, of the kind of `config`. Raises ModelError if `config`
    does not fit the verifier.
    """
    return Heads(config, verifier, dropout) if isinstance(config, HeadsConfig) else BlockDrafter(config, verifier, dropout)
