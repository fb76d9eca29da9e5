"""N-gram memory: drafts the tokens that last followed the same n-gram in any sentence decoded so far."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_cli.decoding.drafters import bounded
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.names import SHORT_DRAFT
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Accepted, Draft, State, Verdict
from specdec_cli.model.cache import steps

_PLACES = 1 << 16
_UNKNOWN = -1


def make(inputs: DrafterInputs) -> "NgramMemory":
    """Make a drafter that remembers nothing yet. Its memory is for the target vocabulary of the bundle, on the
    device of the verifier. Without a block size in `inputs` (0), it is SHORT_DRAFT, 3 tokens.
    """
    return NgramMemory(inputs.decoding.block_size or SHORT_DRAFT, inputs.bundle.verifier.config.vocabulary_size, inputs.device)


class NgramMemory:
    """Drafts up to `block_size` tokens, each the one that last followed the same two tokens, or, if the memory has
    none, the same single token.

    The memory is kept from sentence to sentence, so the number of rounds depends on the text decoded before. It has
    two tables on `device`: one of `vocabulary_size` entries for continuations of single tokens (bigrams), and a hash
    table of 65,536 entries for continuations of pairs (trigrams). Pairs with the same hash overwrite each other;
    that can cause a wrong draft but never changes the output.
    """

    def __init__(self, block_size: int, vocabulary_size: int, device: torch.device) -> None:
        self.limit, self.capturable, self.reads_sentences = block_size, True, False
        # The last entry of each table is never read: what is not to be stored is written to it.
        self._after_one = torch.full((vocabulary_size + 1,), _UNKNOWN, device=device)
        self._after_two = torch.full((_PLACES + 1,), _UNKNOWN, device=device)

    def begin(self, state: State, sentences: Sequence[Sentence]) -> None:  # noqa: ARG002
        return None

    def propose(self, state: State, memory: None, size: int) -> Draft:  # noqa: ARG002
        """Return the continuation (B, k) of each row from memory; a row's draft ends before the first token that the
        memory does not have.
        """
        before, last = _two_last(state)
        columns: list[Tensor] = []
        for _ in range(bounded(self.limit, size)):
            found = self._after_two[_hashed(before, last)]
            found = torch.where(found == _UNKNOWN, self._after_one[last], found)
            columns.append(found)
            before, last = last, found.clamp_min(0)
        ids = torch.stack(columns, dim=1)
        counts = (ids != _UNKNOWN).cumprod(1).sum(1)
        return Draft(ids.clamp_min(0), counts.minimum(state.limits - state.lengths).masked_fill(state.finished, 0))

    def observe(self, state: State, memory: None, verdict: Verdict) -> None:  # noqa: ARG002
        """Store the accepted tokens in the memory as continuations of the tokens before them."""
        accepted: Accepted = verdict.accepted
        tokens = torch.cat([*(column[:, None] for column in _two_last(state)), accepted.ids], dim=1)
        new = steps(accepted.ids.shape[1], tokens.device) < accepted.counts[:, None]
        before, last = tokens[:, :-2], tokens[:, 1:-1]
        for table, entries in ((self._after_one, last), (self._after_two, _hashed(before, last))):
            table.scatter_(0, torch.where(new, entries, len(table) - 1).flatten(), accepted.ids.flatten())


def _two_last(state: State) -> tuple[Tensor, Tensor]:
    """The second to last token (B,) and the last (B,) of each row; the decoder start also precedes itself."""
    last = state.lengths[:, None] - 1
    return state.tokens.gather(1, (last - 1).clamp_min(0))[:, 0], state.tokens.gather(1, last)[:, 0]


def _hashed(before: Tensor, last: Tensor) -> Tensor:
    return (before * 40503 + last * 2654435761) % _PLACES
