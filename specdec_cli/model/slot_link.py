"""The link between neighbouring slots of a block."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.embedding import Vocabulary


class SlotLink(nn.Module):
    """The slot link: conditions a slot's state of `width` units on the token of the slot before it, through a layer
    of `rank` units.

    Slots predicted independently can mix several good translations into a bad one. Here slot j reads the token of
    slot j - 1, similar to the structured decoding of Sun et al. 2019 (NART-CRF). All slots are computed in parallel
    for every candidate of the slot before; then a greedy search over the candidates chooses the draft. A learned
    vector replaces an unknown previous token.
    """

    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        self.from_state = nn.Linear(width, rank)
        self.from_token = nn.Linear(width, rank, bias=False)
        self.unknown = nn.Parameter(torch.zeros(rank))
        self.output = nn.Linear(rank, width)

    def link(self, states: Tensor, tokens: Tensor) -> Tensor:
        """States (..., W) conditioned on the tokens before them, whose projected embeddings are `tokens` (..., R)."""
        linked: Tensor = states + self.output(F.relu(self.from_state(states) + tokens))
        return linked

    def project(self, ids: Tensor, vocabulary: Vocabulary) -> Tensor:
        """The embeddings of `ids` (...), projected to (..., R)."""
        projected: Tensor = self.from_token(vocabulary.embedding.tokens(ids) * vocabulary.embedding.scale)
        return projected

    def forward(self, states: Tensor, previous: Tensor, known: Tensor, vocabulary: Vocabulary) -> Tensor:
        """States (N, k, W) conditioned on the ids `previous` (N, k) before them, where the boolean `known` (N, k) is
        true.
        """
        tokens = torch.where(known[..., None], self.project(previous, vocabulary), self.unknown)
        return self.link(states, tokens)

    def choose(self, states: Tensor, last: Tensor, vocabulary: Vocabulary, candidates: int, shortlist: int = 0) -> Tensor:
        """The drafted ids (N, k): from left to right, in each slot, the best of its `candidates` after the token
        chosen before it.

        The candidates of the first slot are its best tokens after `last` (N,), those of a later slot its best tokens
        when the token before is unknown. Their ids are below `shortlist` if that is not 0.
        """
        first = self.project(last, vocabulary)[:, None]
        tokens = torch.cat([first, self.unknown.expand(states.shape[0], states.shape[1] - 1, -1)], dim=1)
        logits: Tensor = vocabulary.output(self.link(states, tokens))[..., : shortlist or None]
        best = logits.topk(candidates, dim=-1).indices
        if states.shape[1] == 1:
            return best[:, :, 0]
        linked = self.link(states[:, 1:, None], self.project(best[:, :-1], vocabulary))
        weights = F.embedding(best[:, 1:], vocabulary.output.weight)
        scores = linked @ weights.transpose(-1, -2)
        if vocabulary.output.bias is not None:
            scores = scores + vocabulary.output.bias[best[:, 1:]][:, :, None]
        follower = scores.argmax(-1)
        chosen = [follower.new_zeros(follower.shape[0], 1)]
        for step in follower.unbind(1):
            chosen.append(step.gather(1, chosen[-1]))
        return best.gather(2, torch.cat(chosen, dim=1)[..., None])[..., 0]
