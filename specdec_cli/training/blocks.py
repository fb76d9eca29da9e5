"""Drafter states of several blocks per sentence in one forward pass, for training and for counting rounds by teacher forcing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.model.attention import additive_mask
from specdec_cli.model.cache import KeyStore
from specdec_cli.model.drafter import AnyDrafter, BlockDrafter, Heads, SourceView
from specdec_cli.model.rows import select_rows
from specdec_cli.model.transformer import Memory, Transformer
from specdec_cli.training.data import SentencePair, pad, padded_width


@dataclass(frozen=True)
class EncodedSentences:
    """B sentences and what the verifier computes for them.

    `source` (B, S) are source ids; `prefix` (B, T) are decoder input ids: the decoder start token, then the target without its
    last position. `states` (B, T, W) are the verifier's top decoder states of `prefix`; `memory` is its encoding of `source`.
    """

    source: Tensor
    prefix: Tensor
    states: Tensor
    memory: Memory


@dataclass
class _PrefixStore:
    """A KeyStore that appends the keys and values of a pass to those of the prefix."""

    prefix: Tensor

    def write(self, keys_values: Tensor) -> Tensor:
        return torch.cat([self.prefix, keys_values], dim=1)


def encode_sentences(verifier: Transformer, source: Tensor, target: Tensor) -> EncodedSentences:
    """Run the verifier with teacher forcing on the ids `source` (B, S) and `target` (B, T).

    Each target ends with EOS; both tensors are padded on the right.
    """
    prefix = torch.cat([torch.full_like(target[:, :1], verifier.config.decoder_start), target[:, :-1]], dim=1)
    positions = torch.arange(prefix.shape[1], device=prefix.device)
    memory = verifier.encode(source)
    causal = additive_mask(positions <= positions[:, None], memory.states.dtype)[None, None]
    return EncodedSentences(source, prefix, verifier.decode(prefix, positions, causal, memory), memory)


def block_states(
    network: AnyDrafter, sentences: EncodedSentences, cuts: Tensor, slots: int, visible: int | Tensor, glanced: Tensor | None = None
) -> Tensor:
    """The drafter's states (B, M, K, W) of M blocks per sentence, each of K = `slots` slots.

    `cuts` (B, M) are prefix lengths: block m follows the first `cuts[:, m]` tokens of the target. Slot j (from 0) of a block after a
    prefix of c tokens has position c + j (c + j + 1 in the layout "unshifted" of DrafterConfig). It attends to the prefix, to itself
    and to the first `visible` slots of its block. `glanced` (B, M, K) are target ids that replace mask tokens in the input (-1: no
    replacement). For `Heads` without `start`, the states after an empty prefix (cut 0) are undefined.
    """
    if isinstance(network, Heads):
        before = torch.where((cuts > 0)[..., None], _previous_states(sentences, cuts), network.first_states(sentences.memory)[:, None])
        states: Tensor = network(before, slots)
        return states
    begin = cuts + network.config.offset
    positions = begin[..., None] + torch.arange(slots, device=cuts.device)
    positions = positions.clamp_max(network.verifier.config.max_positions - 1)
    view = network.read_source(sentences.source, sentences.memory)
    blocks = _Blocks(cuts, positions, visible, glanced, view)
    if network.config.attention == "bidirectional":
        return _one_row_per_block(network, sentences, blocks)
    return _all_blocks_in_one_row(network, sentences, blocks)


@dataclass(frozen=True)
class _Blocks:
    """M blocks per sentence: the arguments of `block_states`, the `positions` (B, M, K) of slots, and the view of the sources."""

    cuts: Tensor
    positions: Tensor
    visible: int | Tensor
    glanced: Tensor | None
    view: SourceView


def _all_blocks_in_one_row(network: BlockDrafter, sentences: EncodedSentences, blocks: _Blocks) -> Tensor:
    """Causal attention: the blocks of a sentence share one row `[prefix | block 1 | ... | block M]`."""
    cuts, positions, view = blocks.cuts, blocks.positions, blocks.view
    rows, count, slots = positions.shape
    last = sentences.prefix.gather(1, cuts)
    previous = None
    if network.config.prefix == "states":
        previous = _previous_states(sentences, cuts)
    x = network.embed_block(last, positions, view, previous, blocks.glanced).flatten(1, 2)
    flat_positions = positions.flatten(1)
    mask = _block_mask(cuts + network.config.offset, sentences.prefix.shape[1], slots, blocks.visible)
    stores: Sequence[KeyStore] | None = None
    if network.config.prefix == "states":
        stores = [_PrefixStore(keys_values) for keys_values in network.project_states(sentences.states).unbind(2)]
    else:
        length = sentences.prefix.shape[1]
        steps = torch.arange(length, device=cuts.device)
        x = torch.cat([network.embed_prefix(sentences.prefix, steps), x], dim=1)
        flat_positions = torch.cat([steps.expand(rows, -1), flat_positions], dim=1)
        causal = (steps <= steps[:, None]).expand(rows, -1, -1)
        unseen = causal.new_zeros(rows, length, count * slots)
        mask = torch.cat([torch.cat([causal, unseen], dim=2), mask], dim=1)
    states = network.run(x, flat_positions, additive_mask(mask, x.dtype)[:, None], view, stores)
    return states[:, -count * slots :].view(rows, count, slots, -1)


def _previous_states(sentences: EncodedSentences, cuts: Tensor) -> Tensor:
    """The verifier's states (B, M, W) that predicted the last token of each prefix; zeros for empty prefixes."""
    before = (cuts - 1).clamp_min(0)[..., None].expand(-1, -1, sentences.states.shape[2])
    return sentences.states.gather(1, before) * (cuts > 0)[..., None]


def _one_row_per_block(network: BlockDrafter, sentences: EncodedSentences, blocks: _Blocks) -> Tensor:
    """Bidirectional attention: the prefix attends to the block, so each block has its own row `[prefix | block]`."""
    cuts = blocks.cuts
    rows, count, slots = blocks.positions.shape
    sentence = torch.arange(rows, device=cuts.device).repeat_interleave(count)
    view, prefix = select_rows(blocks.view, sentence), sentences.prefix[sentence]
    last, positions = prefix.gather(1, cuts.reshape(-1, 1)), blocks.positions.flatten(0, 1)
    steps = torch.arange(prefix.shape[1], device=cuts.device).expand_as(prefix)
    glanced = None if blocks.glanced is None else blocks.glanced.flatten(0, 1)[:, None]
    block = network.embed_block(last, positions[:, None], view, None, glanced)[:, 0]
    x = torch.cat([network.embed_prefix(prefix, steps), block], dim=1)
    begin = cuts.reshape(-1, 1) + network.config.offset
    seen = torch.cat([steps < begin, (torch.arange(slots, device=cuts.device) < blocks.visible).expand_as(positions)], dim=1)
    mask = additive_mask(seen, x.dtype)[:, None, None]
    states = network.run(x, torch.cat([steps, positions], dim=1), mask, view, None)
    return states[:, -slots:].reshape(rows, count, slots, -1)


def _block_mask(begin: Tensor, length: int, slots: int, visible: int | Tensor) -> Tensor:
    """Attention mask (B, M * K, T + M * K): each slot attends to the positions before `begin` (B, M) and to its own block."""
    rows, count = begin.shape
    block_of_slot = torch.arange(count * slots, device=begin.device) // slots
    slot = torch.arange(count * slots, device=begin.device) % slots
    prefix = torch.arange(length, device=begin.device) < begin.repeat_interleave(slots, dim=1)[..., None]
    block = (block_of_slot == block_of_slot[:, None]) & ((slot < visible) | (slot == slot[:, None]))
    return torch.cat([prefix, block.expand(rows, -1, -1)], dim=2)


_MAX_CUTS = 256  # prefixes of a sentence in one pass; the attention mask grows with their square
_MAX_POSITIONS = 16384  # positions in one pass, for drafters that take one row per prefix


@dataclass(frozen=True)
class Simulation:
    """The numbers of rounds and emitted tokens of exact decoding with `block_size`, and the accuracy of the slots.

    `slot_accuracy[j]` is the share, of all prefixes of all outputs, after which slots 0 to j all equal the verifier's tokens.
    """

    block_size: int
    rounds: int
    tokens: int
    slot_accuracy: tuple[float, ...]

    @property
    def tokens_per_round(self) -> float:
        """Emitted tokens, EOS included, divided by rounds."""
        return self.tokens / max(self.rounds, 1)


@torch.no_grad()
def simulate(network: AnyDrafter, outputs: Sequence[SentencePair], block_size: int) -> Simulation:
    """Compute, by teacher forcing, how many rounds exact decoding with `network` takes for `outputs`, in blocks of `block_size` slots.

    `outputs` are pairs of a source and the verifier's greedy output, ids ending with EOS.
    Raises ValueError for a source or output longer than the verifier's `max_positions`.
    """
    rounds = tokens = 0
    right = torch.zeros(block_size)
    cuts_seen = 0
    device, config = network.like.device, network.verifier.config
    for source, target, lengths in _batches(outputs, config.padding, config.max_positions):
        agreed = _agreement(network, source.to(device), target.to(device), block_size).cpu()
        for row, length in zip(agreed, lengths, strict=True):
            counts = row[:length].tolist()
            right += torch.stack([(row[:length] > j).sum() for j in range(block_size)])
            cuts_seen += length
            tokens += length
            position = 0
            while position < length:
                position += counts[position] + 1
                rounds += 1
    return Simulation(block_size, rounds, tokens, tuple((right / max(cuts_seen, 1)).tolist()))


def _agreement(network: AnyDrafter, source: Tensor, target: Tensor, block_size: int) -> Tensor:
    """The number of drafted tokens that exact verification accepts after each prefix (B, T)."""
    sentences = encode_sentences(network.verifier, source, target)
    rows, length = target.shape
    # With bidirectional attention each prefix has its own row, so fewer fit into a pass.
    shared = isinstance(network, Heads) or network.config.attention == "causal"
    cuts_per_pass = _MAX_CUTS if shared else max(1, _MAX_POSITIONS // (rows * (length + block_size)))
    drafted = []
    for start in range(0, length, cuts_per_pass):
        cuts = torch.arange(start, min(start + cuts_per_pass, length), device=target.device)
        states = block_states(network, sentences, cuts.expand(rows, -1), block_size, block_size)
        tokens = network.choose(states.flatten(0, 1), sentences.prefix[:, cuts].flatten())
        drafted.append(tokens.view(rows, len(cuts), block_size))
    drafted[0][:, : network.config.shortest_prefix] = -1  # no draft after a shorter prefix
    beyond = torch.full((rows, block_size), -1, device=target.device)
    expected = torch.cat([target, beyond], dim=1).unfold(1, block_size, 1)[:, :length]
    return (torch.cat(drafted, dim=1) == expected).cumprod(2).sum(2)


def _batches(
    outputs: Sequence[SentencePair], padding: int, max_length: int, positions: int = 512
) -> Iterator[tuple[Tensor, Tensor, list[int]]]:
    ordered = sorted(outputs, key=lambda pair: max(len(pair.source), len(pair.target)))
    while ordered:
        width = padded_width(max(len(ordered[-1].source), len(ordered[-1].target)), max_length)
        count = max(1, positions // width)
        part, ordered = ordered[-count:], ordered[:-count]
        yield pad([p.source for p in part], width, padding), pad([p.target for p in part], width, padding), [len(p.target) for p in part]
