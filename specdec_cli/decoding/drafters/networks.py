"""Drafters with a trained network: SpecDec's block drafter, which is not autoregressive, and heads on the verifier's states."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.decoding import graphs
from specdec_cli.decoding.drafters import DrafterInputs, bounded
from specdec_cli.decoding.options import check_block_size
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.errors import UsageError
from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import Cache, steps
from specdec_cli.model.drafter import BlockDrafter, Heads, SourceView


def keep_last_state(states: Tensor, counts: Tensor, kept: Tensor) -> None:
    """Copy to `kept` (B, W), in place, the state that predicted the last accepted token: the one with index `counts`
    (B,) - 1 (0 if `counts` is 0) of the verifier's `states` (B, Q, W).
    """
    last = (counts - 1).clamp_min(0)[:, None, None].expand(-1, 1, states.shape[2])
    torch.gather(states, 1, last, out=kept[:, None])


@dataclass
class BlockState:
    """The block drafter's data for B rows: its cache, its view of the source, and the start of the next block.

    `previous` (B, W) is the verifier's top state that predicted the last accepted token. `fed` (B,) is the number of
    prefix tokens in the cache of a drafter with layers of its own. With bidirectional attention nothing is cached:
    `fed` stays 0, and the cache has no layers.
    """

    cache: Cache
    view: SourceView
    previous: Tensor
    fed: Tensor


def make_block(inputs: DrafterInputs) -> "Block":
    """Make the drafter that proposes blocks by the bundle's block drafter network. Raises UsageError for a bundle
    without one.
    """
    if not isinstance(inputs.bundle.drafter, BlockDrafter):
        raise UsageError("this bundle has no block drafter")
    return Block(inputs.bundle.draft_network or inputs.bundle.drafter, inputs.decoding.block_size)


class Block:
    """Proposes `block_size` tokens in each round, or fewer on request, with `network`.

    Rounds may accept drafts of up to `longest` tokens, those of other drafters too: where no value is read, a causal network with layers
    of its own over the prefix takes so many tokens of a round and one more.

    Raises UsageError for a block size larger than `network` was trained for, or below 1.
    """

    def __init__(self, network: BlockDrafter, block_size: int, longest: int = 0) -> None:
        check_block_size(block_size, network.config.max_block)
        self.network = network.eval()
        self.limit, self.capturable, self.reads_sentences = block_size, True, False
        self._longest = max(longest, block_size)

    def beside(self, longest: int) -> "Block":
        """This drafter, for rounds that may accept drafts of up to `longest` tokens."""
        return Block(self.network, self.limit, longest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[BlockDrafter, int, int]:
        return self.network, self.limit, self._longest

    def begin(self, state: State, sentences: Sequence[Sentence]) -> BlockState:  # noqa: ARG002
        """Return data for new rows: the drafter's view of the source, and an empty cache with as many positions as
        the verifier's.
        """
        network, rows = self.network, state.tokens.shape[0]
        states = state.memory.states
        cache = Cache.empty(
            0 if network.config.attention == "bidirectional" else network.config.layers,
            rows,
            state.cache.capacity,
            network.heads,
            network.head_width,
            network.like,
            masked=not network.verifier.batch_invariant,
        )
        view = network.read_source(state.source, state.memory)
        return BlockState(cache, view, states.new_zeros(rows, states.shape[2]), state.lengths * 0)

    def propose(self, state: State, record: BlockState, size: int) -> Draft:
        size, last = bounded(self.limit, size), state.last_tokens()
        block = (state.lengths[:, None] - 1 + self.network.config.offset + steps(size, last.device)).clamp_max(state.cache.capacity - 1)
        if self.network.config.prefix == "states":
            states = self._over_states(state, record, last, block)
        else:
            states = self._over_own_prefix(state, record, last, block)
        return Draft(self.network.choose(states, last), torch.full_like(state.lengths, size))

    def observe(self, state: State, record: BlockState, verdict: Verdict) -> None:
        """With `prefix` "states" in the network's configuration, write the keys and values of the verifier's top
        states to the drafter's cache, and keep the state that predicted the last accepted token. Otherwise do
        nothing.
        """
        if self.network.config.prefix != "states":
            return
        states = verdict.states
        positions = (state.lengths[:, None] - 1 + steps(states.shape[1], states.device)).clamp_max(state.cache.capacity - 1)
        record.cache.write(positions, self.network.project_states(states))
        keep_last_state(states, verdict.accepted.counts, record.previous)

    def _over_states(self, state: State, record: BlockState, last: Tensor, block: Tensor) -> Tensor:
        x = self.network.embed_block(last[:, None], block[:, None], record.view, record.previous[:, None])[:, 0]
        mask = PrefixMask(block[:, -1:] + 1, state.cache.capacity, x.dtype)
        return self.network.run(x, block, mask, record.view, record.cache.at(block))

    def _over_own_prefix(self, state: State, record: BlockState, last: Tensor, block: Tensor) -> Tensor:
        # Feed the tokens that were accepted since the last round, then the block, at consecutive positions.
        size = block.shape[1]
        network, begin = self.network, state.lengths - 1 + self.network.config.offset
        behind = begin - record.fed
        if graphs.can_branch(behind.device):
            most = int(behind.max())
        else:
            most = state.cache.capacity if network.config.attention == "bidirectional" else self._longest + 1
        places_fed = steps(most + size, last.device)
        positions = (record.fed[:, None] + places_fed).clamp_max(state.cache.capacity - 1)
        prefix = network.embed_prefix(state.tokens.gather(1, positions), positions)
        blocks = network.embed_block(last[:, None], block[:, None], record.view, None)[:, 0]
        slot = places_fed - behind[:, None]
        places = slot.clamp(0, size - 1)[..., None].expand_as(prefix)
        x = torch.where((slot >= 0)[..., None], blocks.gather(1, places), prefix)
        if network.config.attention == "bidirectional":
            mask = PrefixMask(begin[:, None] + size, x.shape[1], x.dtype)
            states = network.run(x, positions, mask, record.view, None)
        else:
            mask = PrefixMask(torch.where(slot >= 0, block[:, -1:], positions) + 1, state.cache.capacity, x.dtype)
            states = network.run(x, positions, mask, record.view, record.cache.at(positions))
            record.fed.copy_(begin)
        chosen = behind[:, None] + steps(size, last.device)
        return states.gather(1, chosen[..., None].expand(-1, -1, states.shape[2]))


@dataclass
class BlockwiseState:
    """The drafter's data: the verifier's top state (B, W) that predicted the last accepted token.

    Before the first token, it is the state that `Heads.first_states` returns.
    """

    top: Tensor


def make_heads(inputs: DrafterInputs) -> "Blockwise":
    """Make the drafter that proposes blocks by the bundle's heads. Raises UsageError for a bundle without heads."""
    if not isinstance(inputs.bundle.drafter, Heads):
        raise UsageError("this bundle has no heads")
    return Blockwise(inputs.bundle.drafter, inputs.decoding.block_size)


class Blockwise:
    """Proposes `block_size` tokens in each round, or fewer on request, with `network` (Stern et al. 2018, Section 4: verify and predict in
    one pass).

    Before the first token no state exists: the first draft of a sentence is empty, unless the
    heads have `start`. Raises UsageError for a block size larger than the number of heads, or below 1.
    """

    def __init__(self, network: Heads, block_size: int) -> None:
        check_block_size(block_size, network.config.max_block)
        self.network = network.eval()
        self.limit, self.capturable, self.reads_sentences = block_size, True, False

    def begin(self, state: State, sentences: Sequence[Sentence]) -> BlockwiseState:  # noqa: ARG002
        return BlockwiseState(self.network.first_states(state.memory))

    def propose(self, state: State, record: BlockwiseState, size: int) -> Draft:
        """A block (B, k) after the last accepted token. Without `start` in the heads' configuration, the first draft
        is empty.
        """
        size = bounded(self.limit, size)
        ids = self.network.choose(self.network(record.top, size), state.last_tokens())
        drafting = state.lengths > self.network.config.shortest_prefix
        return Draft(ids, drafting * size)

    def observe(self, state: State, record: BlockwiseState, verdict: Verdict) -> None:  # noqa: ARG002
        keep_last_state(verdict.states, verdict.accepted.counts, record.top)
