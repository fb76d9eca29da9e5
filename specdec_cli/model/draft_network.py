"""The base class of trained networks that draft: the verifier, its vocabulary, and the choice of tokens."""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.embedding import Embedding, Vocabulary
from specdec_cli.model.heads_config import HeadsConfig
from specdec_cli.model.slot_link import SlotLink
from specdec_cli.model.transformer import Transformer


@dataclass
class _Copy:
    """A copy of the verifier's vocabulary."""

    embedding: Embedding
    output: nn.Linear


class DraftNetwork(nn.Module):
    """Base class of trained networks that draft for `verifier`; `config` is the network's configuration. With a slot
    link (`chain`), a slot depends on the tokens of slots before it; with None, the slots are independent.
    """

    config: DrafterConfig | HeadsConfig
    chain: SlotLink | None

    def __init__(self, verifier: Transformer) -> None:
        super().__init__()
        # In a tuple, so that torch does not register these weights as the drafter's own.
        self._verifier: tuple[Transformer] = (verifier,)
        self._vocabulary: tuple[Vocabulary] = (verifier,)

    @property
    def verifier(self) -> Transformer:
        """The model for which the network drafts."""
        return self._verifier[0]

    @property
    def vocabulary(self) -> Vocabulary:
        """The verifier's embeddings and output projection, converted to the drafter's precision if that was lowered."""
        return self._vocabulary[0]

    @property
    def like(self) -> Tensor:
        """A weight with the type and device of the network's activations, also in an int8 model."""
        return self.vocabulary.embedding.tokens.weight

    def lower_precision(self, dtype: torch.dtype) -> None:
        """Convert the network in place to `dtype`; it then uses copies in `dtype` of the verifier's embeddings and
        output projection.

        A network with embeddings of its own makes no copies. The verifier keeps its own type, so exact decoding has
        the same output.
        """
        self.to(dtype)
        if self.vocabulary is self._vocabulary[0]:
            embedding, output = copy.deepcopy((self.verifier.embedding, self.verifier.output))
            self._vocabulary = (_Copy(embedding.to(dtype), output.to(dtype)),)

    def choose(self, states: Tensor, last: Tensor) -> Tensor:
        """The drafted ids (N, k) for the states (N, k, W) of k slots that follow the tokens `last` (N,)."""
        if self.chain is None:
            logits: Tensor = self.vocabulary.output(states)[..., : self.config.shortlist or None]
            return logits.argmax(-1)
        return self.chain.choose(states, last, self.vocabulary, self.config.candidates, self.config.shortlist)
