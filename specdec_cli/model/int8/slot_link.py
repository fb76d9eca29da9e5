"""The link between neighbouring slots for int8 models."""

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.int8.arithmetic import dot
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.layers import Vocabulary
from specdec_cli.model.slot_link import SlotLink


class Int8SlotLink(nn.Module):
    """The int8 version of the slot link `chain`, which chooses drafts.

    In the first slot the token before is known. In a later slot the candidates are the best tokens when the token
    before is unknown; the slot's state is then conditioned on the token that was chosen before it, and multiplied
    with the candidates' output projection in float32. A recurrent link also reads the hidden units of the slot before.
    """

    def __init__(self, chain: SlotLink, vocabulary: Vocabulary, candidates: int) -> None:
        super().__init__()
        self.from_state, self.output = Int8Linear(chain.from_state), Int8Linear(chain.output)
        self.from_token = Int8Linear(chain.from_token)
        self.recurrent = None if chain.recurrent is None else Int8Linear(chain.recurrent)
        self.unknown = chain.unknown.detach().clone()
        self._tokens, self._scale = vocabulary.embedding.tokens.weight.detach(), vocabulary.embedding.scale
        # The output projection becomes an int8 layer later.
        self._rows = vocabulary.output.weight.detach()
        self._bias = None if vocabulary.output.bias is None else vocabulary.output.bias.detach()
        self._candidates = candidates

    def choose(self, states: Tensor, last: Tensor, vocabulary: Vocabulary, candidates: int, shortlist: int = 0) -> Tensor:  # noqa: ARG002
        """The drafted ids (N, k): from left to right, in each slot, the best of its candidates after the token
        chosen before it.

        `states` are (N, k, W), and `last` (N,) are the tokens before the first slot. Ids are below `shortlist` if
        that is not 0. The argument `candidates` is ignored: their number was given to the constructor.
        """
        narrow = self.from_state(states)
        units = narrow + self.unknown
        units[:, 0] = narrow[:, 0] + self._project(last)
        units.relu_()
        logits = cast(Tensor, vocabulary.output(states + self.output(units)))[..., : shortlist or None]
        return self._walk(logits, states, narrow, units[:, 0])

    def _project(self, ids: Tensor) -> Tensor:
        projected: Tensor = self.from_token(F.embedding(ids, self._tokens) * self._scale)
        return projected

    def _walk(self, logits: Tensor, states: Tensor, narrow: Tensor, hidden: Tensor) -> Tensor:
        """Choose all ids (N, k); `hidden` (N, R) are the hidden units of the first slot. On ties the first candidate is better."""
        best = logits.sort(dim=-1, descending=True, stable=True).indices[..., : self._candidates]
        chosen = [best[:, 0, 0]]
        for slot in range(1, logits.shape[1]):
            own = best[:, slot]
            inputs = narrow[:, slot] + self._project(chosen[-1])
            hidden = (inputs if self.recurrent is None else inputs + self.recurrent(hidden)).relu_()
            state = states[:, slot] + self.output(hidden)
            scores = dot(state[:, None].numpy(), self._rows[own].numpy())
            scores = scores if self._bias is None else scores + self._bias[own].numpy()
            chosen.append(own.gather(1, torch.from_numpy(np.argmax(scores, 1, keepdims=True)))[:, 0])
        return torch.stack(chosen, 1)
