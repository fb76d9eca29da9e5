"""The link between neighbouring slots for int8 models, computed from tables over the vocabulary."""

import ctypes
from typing import cast

import torch
from torch import Tensor, nn

from specdec_cli.kernels.build import WORK_PER_LOGIT, Kernels
from specdec_cli.kernels.structs import LANES, MOST_CANDIDATES, ChainStruct
from specdec_cli.model.embedding import Vocabulary
from specdec_cli.model.int8.arithmetic import dot
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.slot_link import SlotLink


class Int8SlotLink(nn.Module):
    """The drafts of `chain`, with its products with embeddings precomputed for all tokens, and the walk by `kernels` if given.

    With f the projected state of a slot, t(a) the projected embedding of the token before it, and u that of an unknown token, the
    logit of b becomes logit(b) + (relu(f + t(a)) - relu(f + u)) o(b), where o(b) is the output projection of b multiplied by the
    chain's output weights.
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
        """The draft (N, k) that a greedy walk from the tokens `last` (N,) chooses among the best candidates of each slot."""
        narrow = self.from_state(states)
        linked = narrow + self.unknown
        linked[:, 0] = narrow[:, 0] + self.before[last]
        logits = cast(Tensor, vocabulary.output(states + self.output(linked.relu_())))
        return self._walk(logits, narrow) if self._kernels is None else self._walk_by_kernels(self._kernels, logits, narrow)

    def _walk(self, logits: Tensor, narrow: Tensor) -> Tensor:
        # On ties the first candidate is better.
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
            kernels.threads(rows * slots * logits.shape[2] * WORK_PER_LOGIT),
        )
        return ids
