"""The link between neighbouring slots of a draft, by tables: what a token before a slot changes about its logits."""

import ctypes
from typing import cast

import torch
from torch import Tensor, nn

from specdec_cli.kernels.build import LOOKING, Kernels
from specdec_cli.kernels.structs import LANES, MOST_CANDIDATES, ChainStruct
from specdec_cli.model.embedding import Vocabulary
from specdec_cli.model.int8.arithmetic import dot
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.slot_link import SlotLink


class Int8SlotLink(nn.Module):
    """The draft of `chain`, its products with embeddings done once for all tokens, its walk one call of the kernels, if given.

    With f a slot's state, t(a) the token before it and u the unknown one, the logit of b becomes
    logit(b) + (relu(f + t(a)) - relu(f + u)) o(b), where o(b) is the output projection of b seen through the chain's own.
    """

    def __init__(self, chain: SlotLink, vocabulary: Vocabulary, kernels: Kernels | None, candidates: int) -> None:
        super().__init__()
        self.from_state, self.output = Int8Linear(chain.from_state, kernels), Int8Linear(chain.output, kernels)
        with torch.inference_mode():
            self.unknown = chain.unknown.detach().clone()
            self.before = chain.from_token(vocabulary.embedding.tokens.weight * vocabulary.embedding.scale)
            self.after = vocabulary.output.weight @ chain.output.weight
        self._kernels = kernels if chain.unknown.shape[0] % LANES == 0 and candidates <= MOST_CANDIDATES else None
        sizes = (len(self.before), len(self.unknown), candidates)
        self._struct = ChainStruct(*sizes, self.before.data_ptr(), self.after.data_ptr(), self.unknown.data_ptr())
        self._candidates = candidates

    def choose(self, states: Tensor, last: Tensor, vocabulary: Vocabulary, candidates: int) -> Tensor:  # noqa: ARG002
        """The draft (N, k) that a greedy walk from `last` (N,) finds among each slot's best candidates."""
        narrow = self.from_state(states)
        linked = narrow + self.unknown
        linked[:, 0] = narrow[:, 0] + self.before[last]
        logits = cast(Tensor, vocabulary.output(states + self.output(linked.relu_())))
        return self._walk(logits, narrow) if self._kernels is None else self._walk_by_kernels(self._kernels, logits, narrow)

    def _walk(self, logits: Tensor, narrow: Tensor) -> Tensor:
        # Of equal logits the first one is the better candidate.
        best = logits.sort(dim=-1, descending=True, stable=True).indices[..., : self._candidates]
        chosen = [best[:, 0, 0]]
        unknown = (narrow + self.unknown).relu()
        for slot in range(1, logits.shape[1]):
            difference = (narrow[:, slot] + self.before[chosen[-1]]).relu() - unknown[:, slot]
            change = torch.from_numpy(dot(difference[:, None].numpy(), self.after[best[:, slot]].numpy()))
            scores = logits[:, slot].gather(1, best[:, slot]) + change
            chosen.append(best[:, slot].gather(1, scores.argmax(1, keepdim=True))[:, 0])
        return torch.stack(chosen, 1)

    def _walk_by_kernels(self, kernels: Kernels, logits: Tensor, narrow: Tensor) -> Tensor:
        rows, slots = narrow.shape[:2]
        logits, narrow = logits.contiguous(), narrow.contiguous()
        ids = torch.empty(rows, slots, dtype=torch.int64)
        kernels.chain(
            ctypes.byref(self._struct),
            logits.data_ptr(),
            narrow.data_ptr(),
            rows,
            slots,
            ids.data_ptr(),
            kernels.scratch(8 * rows * slots * self._candidates),
            kernels.threads(rows * slots * logits.shape[2] * LOOKING),
        )
        return ids
