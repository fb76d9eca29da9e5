"""The link between neighbouring slots of a block."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.layers import Vocabulary


class SlotLink(nn.Module):
    """The slot link: conditions a slot's state of `width` units on the token of the slot before it, through a layer
    of `rank` hidden units.

    Slots predicted independently can mix several good translations into a bad one. Here slot j reads the token of
    slot j - 1, similar to the structured decoding of Sun et al. 2019 (NART-CRF). A learned vector replaces an unknown
    previous token. If the link is `recurrent`, slot j also reads the hidden units of slot j - 1, and so knows all
    tokens of the block before it, as in a recurrent drafter (Cheng et al. 2024, "Recurrent Drafter for Fast Speculative
    Decoding in Large Language Models"). The matrix that multiplies these units is 0 before training.
    """

    def __init__(self, width: int, rank: int, *, recurrent: bool = False) -> None:
        super().__init__()
        self.from_state = nn.Linear(width, rank)
        self.from_token = nn.Linear(width, rank, bias=False)
        self.unknown = nn.Parameter(torch.zeros(rank))
        self.output = nn.Linear(rank, width)
        self.recurrent = nn.Linear(rank, rank, bias=False) if recurrent else None
        if self.recurrent is not None:
            nn.init.zeros_(self.recurrent.weight)

    def project(self, ids: Tensor, vocabulary: Vocabulary) -> Tensor:
        """The embeddings of `ids` (...), projected to (..., R)."""
        projected: Tensor = self.from_token(vocabulary.embedding.tokens(ids) * vocabulary.embedding.scale)
        return projected

    def forward(self, states: Tensor, previous: Tensor, known: Tensor, vocabulary: Vocabulary) -> Tensor:
        """States (..., k, W) conditioned on the ids `previous` (..., k) before them, where the boolean `known` (..., k) is true.

        A recurrent link reads the hidden units that slot j - 1 has if its own previous token is known.
        """
        narrow = self.from_state(states)
        conditioned, hidden = [], None
        for inputs in (narrow + self.project(previous, vocabulary)).unbind(-2):
            hidden = self._hidden(inputs, hidden)
            conditioned.append(hidden)
        units = torch.where(known[..., None], torch.stack(conditioned, -2), F.relu(narrow + self.unknown))
        linked: Tensor = states + self.output(units)
        return linked

    def choose(self, states: Tensor, last: Tensor, vocabulary: Vocabulary, candidates: int, shortlist: int = 0) -> Tensor:
        """The drafted ids (N, k) for `states` (N, k, W): from left to right, in each slot, the best of its `candidates` after
        the token chosen before it.

        The candidates of the first slot are its best tokens after `last` (N,), those of a later slot its best tokens
        when the token before is unknown. Their ids are below `shortlist` if that is not 0.
        """
        narrow = self.from_state(states)
        hidden = self._hidden(narrow[:, 0] + self.project(last, vocabulary))
        units = torch.cat([hidden[:, None], F.relu(narrow[:, 1:] + self.unknown)], dim=1)
        logits: Tensor = vocabulary.output(states + self.output(units))[..., : shortlist or None]
        best = logits.topk(candidates, dim=-1).indices
        chosen = [best[:, 0, 0]]
        for slot in range(1, states.shape[1]):
            in_slot = best[:, slot]
            hidden = self._hidden(narrow[:, slot] + self.project(chosen[-1], vocabulary), hidden)
            linked = states[:, slot] + self.output(hidden)
            scores = (F.embedding(in_slot, vocabulary.output.weight) @ linked[..., None])[..., 0]
            scores = scores if vocabulary.output.bias is None else scores + vocabulary.output.bias[in_slot]
            chosen.append(in_slot.gather(1, scores.argmax(-1, keepdim=True))[:, 0])
        return torch.stack(chosen, dim=1)

    def _hidden(self, inputs: Tensor, before: Tensor | None = None) -> Tensor:
        """The hidden units (..., R) of a slot. `inputs` is the sum of its projected state and projected previous token; `before` are the
        hidden units of the slot before.
        """
        if self.recurrent is not None and before is not None:
            inputs = inputs + self.recurrent(before)
        return F.relu(inputs)
