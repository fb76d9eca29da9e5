"""Heads on the verifier's top states: the drafter of blockwise parallel decoding."""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.errors import ModelError
from specdec_cli.model.dropout import Dropout
from specdec_cli.model.heads_config import HeadsConfig
from specdec_cli.model.slot_link import SlotLink
from specdec_cli.model.transformer import Embedding, Transformer, Vocabulary


@dataclass
class _Vocabulary:
    embedding: Embedding
    output: nn.Linear


class Head(nn.Module):
    """A feed-forward layer with a residual connection, before the shared output projection (Stern et al. 2018, Section 3)."""

    def __init__(self, width: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(width, feed_forward)
        self.outer = nn.Linear(feed_forward, width)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """(..., W) to (..., W)."""
        change: Tensor = self.outer(F.relu(self.inner(states)))
        output: Tensor = states + self.dropout(change)
        return output


class Heads(nn.Module):
    """Predicts the tokens after the verifier's next one, all from the verifier's top state that predicts that one.

    The state at a position predicts the next token through the verifier's output projection. Head j predicts from the same
    state, through the same projection, the token j positions after that one. So a draft needs no pass over the decoder.
    A slot may also condition on the token chosen for the slot before it (`SlotLink`). Raises ModelError for sizes that do not fit.
    """

    def __init__(self, config: HeadsConfig, verifier: Transformer, dropout: float = 0.0) -> None:
        super().__init__()
        config.check_against(verifier.config)
        self.config = config
        # In a tuple, so that these weights are not the heads' own.
        self._verifier: tuple[Transformer] = (verifier,)
        self._vocabulary: tuple[Vocabulary] = (verifier,)
        width = verifier.config.width
        self.heads = nn.ModuleList(Head(width, config.feed_forward, dropout) for _ in range(config.max_block))
        self.chain = SlotLink(width, config.chain) if config.chain else None

    @property
    def verifier(self) -> Transformer:
        """The model whose states they read."""
        return self._verifier[0]

    @property
    def vocabulary(self) -> Vocabulary:
        """The verifier's embeddings and output projection, in the heads' precision."""
        return self._vocabulary[0]

    @property
    def like(self) -> Tensor:
        """A weight of the type and on the device that they compute in, also where their products are in int8."""
        return self.vocabulary.embedding.tokens.weight

    def lower_precision(self, dtype: torch.dtype) -> None:
        """Compute in `dtype` while the verifier keeps its own; a draft decides nothing, so decoding stays exact."""
        self.to(dtype)
        embedding, output = copy.deepcopy((self.verifier.embedding, self.verifier.output))
        self._vocabulary = (_Vocabulary(embedding.to(dtype), output.to(dtype)),)

    @torch.no_grad()
    def initialize_from(self, other: "Heads") -> None:
        """Take over the weights that `other` has too. Raises ModelError where one has another shape."""
        theirs = other.state_dict()
        for name, own in self.state_dict().items():
            if name not in theirs:
                continue
            if own.shape != theirs[name].shape:
                raise ModelError(f"heads with {name} of {tuple(theirs[name].shape)} cannot be the start of some of {tuple(own.shape)}")
            own.copy_(theirs[name])

    def forward(self, states: Tensor, slots: int) -> Tensor:
        """States (..., k, W) of the first k = `slots` slots from the verifier's top states (..., W)."""
        states = states.to(self.like.dtype)
        return torch.stack([head(states) for head in self.heads[:slots]], dim=-2)

    def choose(self, states: Tensor, last: Tensor) -> Tensor:
        """The drafted ids (N, k) for the states of slots (N, k, W), which follow the tokens `last` (N,)."""
        if self.chain is None:
            logits: Tensor = self.vocabulary.output(states)
            return logits.argmax(-1)
        return self.chain.choose(states, last, self.vocabulary, self.config.candidates)
