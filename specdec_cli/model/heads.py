"""Heads on the verifier's top states: the network that drafts in blockwise parallel decoding."""

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
    """A feed-forward layer with a residual connection; its output goes to the shared output projection (Stern et al.
    2018, Section 3).
    """

    def __init__(self, width: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(width, feed_forward)
        self.outer = nn.Linear(feed_forward, width)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """States (..., W) of one slot from the verifier's top states (..., W)."""
        change: Tensor = self.outer(F.relu(self.inner(states)))
        output: Tensor = states + self.dropout(change)
        return output


class Heads(DraftNetwork):
    """Predicts several tokens after the verifier's next token, all from the verifier's top state that predicts the
    next token.

    The state at a position predicts the next token through the verifier's output projection. Head j, from 1,
    predicts from the same state, through the same projection, the token j positions after the next one. A draft
    needs no pass over the decoder. Raises ModelError if the configuration does not fit that of `verifier`.
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
        """Copy the weights that `other` has too, in place. Raises ModelError if the shape of one differs."""
        theirs = other.state_dict()
        for name, own in self.state_dict().items():
            if name not in theirs:
                continue
            if own.shape != theirs[name].shape:
                raise ModelError(f"heads with {name} of {tuple(theirs[name].shape)} cannot initialise some of {tuple(own.shape)}")
            own.copy_(theirs[name])

    def first_states(self, memory: Memory) -> Tensor:
        """The states (B, W) that replace the verifier's before the first token.

        They are zeros, or with `start` in the configuration a projection of the first and the mean encoder state of
        each row.
        """
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
