"""Blockwise parallel decoding: heads on the state that predicted the last accepted token make the draft."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from specdec_cli.decoding.drafters import bounded
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.drafters.networks import keep_last_state
from specdec_cli.decoding.options import check_block_size
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.errors import UsageError
from specdec_cli.model.heads import Heads


@dataclass
class BlockwiseState:
    """The drafter's data: the verifier's top state (B, W) that predicted the last accepted token.

    Before the first token, it is the state that `Heads.first_states` returns.
    """

    top: Tensor


def make(inputs: DrafterInputs) -> "Blockwise":
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

    def propose(self, state: State, memory: BlockwiseState, size: int) -> Draft:
        """A block (B, k) after the last accepted token. Without `start` in the heads' configuration, the first draft
        is empty.
        """
        size = bounded(self.limit, size)
        ids = self.network.choose(self.network(memory.top, size), state.last_tokens())
        drafting = state.lengths > self.network.config.shortest_prefix
        return Draft(ids, drafting * size)

    def observe(self, state: State, memory: BlockwiseState, verdict: Verdict) -> None:  # noqa: ARG002
        keep_last_state(verdict.states, verdict.accepted.counts, memory.top)
