"""Heads on the verifier's top states: the drafter of blockwise parallel decoding."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.errors import ModelError
from specdec_cli.model.draft_network import DraftNetwork
from specdec_cli.model.dropout import Dropout
from specdec_cli.model.heads_config import HeadsConfig
from specdec_cli.model.slot_link import SlotLink
from specdec_cli.model.transformer import Memory, Transformer


class Head(nn.Module):
    """A feed-forward layer with a residual connection; the shared output projection follows it (Stern et al. 2018, Section 3)."""

    def __init__(self, width: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(width, feed_forward)
        self.outer = nn.Linear(feed_forward, width)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """States (..., W) from states (..., W)."""
        change: Tensor = self.outer(F.relu(self.inner(states)))
        output: Tensor = states + self.dropout(change)
        return output


class Heads(DraftNetwork):
    """Predicts several tokens after the verifier's next token, all from the verifier's top state that predicts the next token.

    The state at a position predicts the next token through the verifier's output projection. Head j predicts from the same
    state, through the same projection, the token j positions after the next one. A draft needs no pass over the decoder.
    Raises ModelError for inconsistent sizes.
    """

    config: HeadsConfig

    def __init__(self, config: HeadsConfig, verifier: Transformer, dropout: float = 0.0) -> None:
        super().__init__(verifier)
        config.check_against(verifier.config)
        self.config = config
        width = verifier.config.width
        self.heads = nn.ModuleList(Head(width, config.feed_forward, dropout) for _ in range(config.max_block))
        self.chain = SlotLink(width, config.chain) if config.chain else None
        self.start = nn.Linear(2 * width, width) if config.start else None

    @torch.no_grad()
    def initialize_from(self, other: "Heads") -> None:
        """Copy the weights that `other` has too. Raises ModelError if a shape differs."""
        theirs = other.state_dict()
        for name, own in self.state_dict().items():
            if name not in theirs:
                continue
            if own.shape != theirs[name].shape:
                raise ModelError(f"heads with {name} of {tuple(theirs[name].shape)} cannot initialise some of {tuple(own.shape)}")
            own.copy_(theirs[name])

    def first_states(self, memory: Memory) -> Tensor:
        """What stands for the top state (B, W) before the first token: zeros, or the projected first and mean encoder states."""
        if self.start is None:
            return memory.states.new_zeros(memory.states.shape[0], self.verifier.config.width)
        lengths = memory.mask.ends.amax(1, keepdim=True)
        inside = torch.arange(memory.states.shape[1], device=lengths.device) < lengths
        states = memory.states.to(self.like.dtype)
        mean = (states * inside[..., None]).sum(1) / lengths.clamp_min(1)
        first: Tensor = self.start(torch.cat([states[:, 0], mean], dim=1))
        return first.to(memory.states.dtype)

    def forward(self, states: Tensor, slots: int) -> Tensor:
        """States (..., k, W) of the first k = `slots` slots from the verifier's top states (..., W)."""
        states = states.to(self.like.dtype)
        return torch.stack([head(states) for head in self.heads[:slots]], dim=-2)
