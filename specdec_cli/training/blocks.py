"""Many blocks of a sentence in one pass: the layout that drafters are trained and simulated in."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.model.attention import additive_mask
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.transformer import Memory, Transformer


@dataclass(frozen=True)
class Sentences:
    """What the frozen verifier knows of B sentences: `source` (B, S), `prefix` (B, T) from the decoder start on, `states` (B, T, W)."""

    source: Tensor
    prefix: Tensor
    states: Tensor
    memory: Memory


@dataclass
class _Beside:
    """Puts the keys and values of a pass after those of the prefix."""

    prefix: Tensor

    def write(self, keys_values: Tensor) -> Tensor:
        return torch.cat([self.prefix, keys_values], dim=1)


@torch.no_grad()
def read_sentences(verifier: Transformer, source: Tensor, target: Tensor) -> Sentences:
    """Run the verifier over `source` (B, S) and its own output `target` (B, T), which ends with EOS and is padded."""
    prefix = torch.cat([torch.full_like(target[:, :1], verifier.config.decoder_start), target[:, :-1]], dim=1)
    positions = torch.arange(prefix.shape[1], device=prefix.device)
    memory = verifier.encode(source)
    causal = additive_mask(positions <= positions[:, None], memory.states.dtype)[None, None]
    return Sentences(source, prefix, verifier.decode(prefix, positions, causal, memory), memory)


def block_states(
    network: BlockDrafter, sentences: Sentences, cuts: Tensor, slots: int, visible: int, shown: Tensor | None = None
) -> Tensor:
    """The drafter's states (B, M, K, W) of blocks of K = `slots` tokens after the prefixes of `cuts` (B, M) tokens.

    Only the first `visible` slots of a block can be seen: the others are as good as absent. The layout is
    `[prefix | block 1 | ... | block M]`; a slot of cut c stands at position c + j (c + j + 1 if unshifted),
    sees the prefix before its block's first position, and its own block. `shown` (B, M, K), where not
    negative, are tokens to put in place of masks (glancing).
    """
    rows, count = cuts.shape
    begin = cuts + network.config.offset
    positions = begin[..., None] + torch.arange(slots, device=cuts.device)
    positions = positions.clamp_max(network.verifier.config.max_positions - 1)
    last = sentences.prefix.gather(1, cuts)
    previous = None
    if network.config.prefix == "states":
        before = (cuts - 1).clamp_min(0)[..., None].expand(-1, -1, sentences.states.shape[2])
        previous = sentences.states.gather(1, before) * (cuts > 0)[..., None]
    view = network.read_source(sentences.source, sentences.memory)
    x = network.embed_block(last, positions, view, previous, shown).flatten(1, 2)
    mask = _block_mask(begin, sentences.prefix.shape[1], slots, visible)
    stores: Sequence[KeyStore | None]
    if network.config.prefix == "states":
        stores = [_Beside(keys_values) for keys_values in network.project_states(sentences.states).unbind(2)]
    else:
        length = sentences.prefix.shape[1]
        steps = torch.arange(length, device=cuts.device)
        x = torch.cat([network.embed_prefix(sentences.prefix, steps), x], dim=1)
        causal = (steps <= steps[:, None]).expand(rows, -1, -1)
        unseen = causal.new_zeros(rows, length, count * slots)
        mask = torch.cat([torch.cat([causal, unseen], dim=2), mask], dim=1)
        stores = [None] * network.config.layers
    states = network.run(x, additive_mask(mask, x.dtype)[:, None], view, stores)
    return states[:, -count * slots :].view(rows, count, slots, -1)


def _block_mask(begin: Tensor, length: int, slots: int, visible: int) -> Tensor:
    """What a slot sees (B, M * K, T + M * K): the prefix before its block begins (B, M), and its own block."""
    rows, count = begin.shape
    owner = torch.arange(count * slots, device=begin.device) // slots
    slot = torch.arange(count * slots, device=begin.device) % slots
    prefix = torch.arange(length, device=begin.device) < begin.repeat_interleave(slots, dim=1)[..., None]
    block = (owner == owner[:, None]) & ((slot < visible) | (slot == slot[:, None]))
    return torch.cat([prefix, block.expand(rows, -1, -1)], dim=2)
