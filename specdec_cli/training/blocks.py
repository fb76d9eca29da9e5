"""Many blocks of a sentence in one pass: the layout that drafters are trained and simulated in."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.model.attention import additive_mask
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.drafter import BlockDrafter, SourceView
from specdec_cli.model.drafters import AnyDrafter
from specdec_cli.model.heads import Heads
from specdec_cli.model.rows import select_rows
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


def block_states(network: AnyDrafter, sentences: Sentences, cuts: Tensor, slots: int, visible: int, shown: Tensor | None = None) -> Tensor:
    """The drafter's states (B, M, K, W) of blocks of K = `slots` tokens after the prefixes of `cuts` (B, M) tokens.

    Only the first `visible` slots of a block can be seen: the others are as good as absent. A slot of cut c stands at position
    c + j (c + j + 1 if unshifted), sees the prefix before its block's first position, and its own block. `shown` (B, M, K),
    where not negative, are tokens to put in place of masks (glancing). Heads have no states after an empty prefix: what they
    then give means nothing.
    """
    if isinstance(network, Heads):
        states: Tensor = network(_previous_states(sentences, cuts), slots)
        return states
    begin = cuts + network.config.offset
    positions = begin[..., None] + torch.arange(slots, device=cuts.device)
    positions = positions.clamp_max(network.verifier.config.max_positions - 1)
    view = network.read_source(sentences.source, sentences.memory)
    if network.config.attention == "bidirectional":
        return _a_row_each(network, sentences, cuts, positions, visible, shown, view)
    return _side_by_side(network, sentences, cuts, positions, visible, shown, view)


def _side_by_side(
    network: BlockDrafter, sentences: Sentences, cuts: Tensor, positions: Tensor, visible: int, shown: Tensor | None, view: SourceView
) -> Tensor:
    """Blocks that share the prefix of their sentence, which does not see them: `[prefix | block 1 | ... | block M]`."""
    rows, count, slots = positions.shape
    last = sentences.prefix.gather(1, cuts)
    previous = None
    if network.config.prefix == "states":
        previous = _previous_states(sentences, cuts)
    x = network.embed_block(last, positions, view, previous, shown).flatten(1, 2)
    places = positions.flatten(1)
    mask = _block_mask(cuts + network.config.offset, sentences.prefix.shape[1], slots, visible)
    stores: Sequence[KeyStore] | None = None
    if network.config.prefix == "states":
        stores = [_Beside(keys_values) for keys_values in network.project_states(sentences.states).unbind(2)]
    else:
        length = sentences.prefix.shape[1]
        steps = torch.arange(length, device=cuts.device)
        x = torch.cat([network.embed_prefix(sentences.prefix, steps), x], dim=1)
        places = torch.cat([steps.expand(rows, -1), places], dim=1)
        causal = (steps <= steps[:, None]).expand(rows, -1, -1)
        unseen = causal.new_zeros(rows, length, count * slots)
        mask = torch.cat([torch.cat([causal, unseen], dim=2), mask], dim=1)
    states = network.run(x, places, additive_mask(mask, x.dtype)[:, None], view, stores)
    return states[:, -count * slots :].view(rows, count, slots, -1)


def _previous_states(sentences: Sentences, cuts: Tensor) -> Tensor:
    """The verifier's states (B, M, W) that predicted the last tokens of prefixes of `cuts` (B, M) tokens; zeros for empty ones."""
    before = (cuts - 1).clamp_min(0)[..., None].expand(-1, -1, sentences.states.shape[2])
    return sentences.states.gather(1, before) * (cuts > 0)[..., None]


def _a_row_each(
    network: BlockDrafter, sentences: Sentences, cuts: Tensor, positions: Tensor, visible: int, shown: Tensor | None, view: SourceView
) -> Tensor:
    """Blocks in rows of their own, `[prefix | block]`, because the prefix sees the block (attention "bidirectional")."""
    rows, count, slots = positions.shape
    owner = torch.arange(rows, device=cuts.device).repeat_interleave(count)
    view, prefix = select_rows(view, owner), sentences.prefix[owner]
    last, positions = prefix.gather(1, cuts.reshape(-1, 1)), positions.flatten(0, 1)
    steps = torch.arange(prefix.shape[1], device=cuts.device).expand_as(prefix)
    hidden = None if shown is None else shown.flatten(0, 1)[:, None]
    block = network.embed_block(last, positions[:, None], view, None, hidden)[:, 0]
    x = torch.cat([network.embed_prefix(prefix, steps), block], dim=1)
    begin = cuts.reshape(-1, 1) + network.config.offset
    seen = torch.cat([steps < begin, (torch.arange(slots, device=cuts.device) < visible).expand_as(positions)], dim=1)
    mask = additive_mask(seen, x.dtype)[:, None, None]
    states = network.run(x, torch.cat([steps, positions], dim=1), mask, view, None)
    return states[:, -slots:].reshape(rows, count, slots, -1)


def _block_mask(begin: Tensor, length: int, slots: int, visible: int) -> Tensor:
    """What a slot sees (B, M * K, T + M * K): the prefix before its block begins (B, M), and its own block."""
    rows, count = begin.shape
    owner = torch.arange(count * slots, device=begin.device) // slots
    slot = torch.arange(count * slots, device=begin.device) % slots
    prefix = torch.arange(length, device=begin.device) < begin.repeat_interleave(slots, dim=1)[..., None]
    block = (owner == owner[:, None]) & ((slot < visible) | (slot == slot[:, None]))
    return torch.cat([prefix, block.expand(rows, -1, -1)], dim=2)
