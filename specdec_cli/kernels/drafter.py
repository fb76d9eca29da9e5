"""A block drafter over the verifier's states, or over its own prefix, computed by kernels."""

import torch
from torch import Tensor

from specdec_cli.kernels.embedding import embed
from specdec_cli.kernels.linear import linear
from specdec_cli.kernels.link import choose, link_tables
from specdec_cli.kernels.network import decoder_layer, final_norm, project_memory
from specdec_cli.kernels.support import why_not
from specdec_cli.kernels.vocabulary import best_tokens
from specdec_cli.model.attention import Mask, PrefixMask
from specdec_cli.model.cache import LayerCache
from specdec_cli.model.drafter import BlockDrafter, SourceView
from specdec_cli.model.layers import DecoderLayer
from specdec_cli.model.transformer import Memory


class TritonDrafter(BlockDrafter):
    """The computation of `network` by kernels; it has the network's weights.

    Raises ValueError for a drafter that `why_not` rejects.
    """

    def __init__(self, network: BlockDrafter) -> None:
        if problem := why_not(network):
            raise ValueError(problem)
        self.__dict__.update(network.__dict__)
        self._tables = None if self.chain is None else link_tables(self.chain, self.vocabulary)

    def read_source(self, source: Tensor, memory: Memory | None) -> SourceView:  # noqa: ARG002
        assert memory is not None
        states = memory.states.contiguous()
        keys_values = [project_memory(states, layer) for layer in self.layers if isinstance(layer, DecoderLayer)]
        return SourceView(keys_values, memory.mask, states[:, :, :0])

    def project_states(self, states: Tensor) -> Tensor:
        projected = linear(states.contiguous(), self.prefix_keys_values)
        return projected.view(*states.shape[:2], self.config.layers, 2, self.heads, self.head_width)

    def embed_block(
        self, last: Tensor, positions: Tensor, view: SourceView, previous: Tensor | None, shown: Tensor | None = None
    ) -> Tensor:
        if shown is not None or previous is None or positions.shape[1] != 1:
            return super().embed_block(last, positions, view, previous, shown)
        ids = torch.full_like(positions, self.config.mask)
        if self.config.offset == 0:
            ids[..., 0] = last
        state = linear(previous.contiguous(), self.previous_state)
        return embed(ids[:, 0], positions[:, 0], self.vocabulary.embedding)[:, None] + self.slots[: positions.shape[2]] + state[:, :, None]

    def run(self, x: Tensor, positions: Tensor, mask: Mask, view: SourceView, stores: object) -> Tensor:
        if not isinstance(mask, PrefixMask) or not isinstance(stores, list):
            raise TypeError("kernels compute drafts over a cache")
        x = x.contiguous()
        for layer, keys_values, store in zip(self.layers, view.keys_values, stores, strict=True):
            assert isinstance(layer, DecoderLayer) and isinstance(store, LayerCache)
            x = decoder_layer(x, layer, LayerCache(store.store, positions), mask.ends, keys_values, view.mask.ends)
        return final_norm(x, self.norm)

    def choose(self, states: Tensor, last: Tensor) -> Tensor:
        states = states.contiguous()
        if self._tables is None or self.chain is None:
            return best_tokens(states.flatten(0, 1), self.vocabulary.output, shortlist=self.config.shortlist).ids.view(states.shape[:2])
        return choose(states, last, self.chain, self.vocabulary, self._tables, self.config.candidates, self.config.shortlist)
