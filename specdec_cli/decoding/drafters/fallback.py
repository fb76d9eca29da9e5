"""Several drafters in order: each row takes the draft of the first drafter whose draft is not empty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from specdec_cli.decoding import graphs
from specdec_cli.decoding.drafters import Drafter, DrafterInputs, bounded, find_maker
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.methods import LONGEST_DRAFT, methods_of
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.model.linear import ROW_MULTIPLE

SHORTEST = ROW_MULTIPLE - 1
"""Largest number of draft tokens that add no rows to the products of a single sentence: these have ROW_MULTIPLE rows
even without a draft.
"""


@dataclass
class FallbackState:
    """The drafters' data (`records`, one of each drafter, in order), the `longest` draft in tokens (B,) that is
    allowed in the next round, and the bound (B,) of the last draft's tokens (`bound`).
    """

    records: list[Any]
    longest: Tensor
    bound: Tensor


class Fallback:
    """Takes for each row the draft of the first of `drafters` whose draft is not empty, cut to the row's longest
    draft.

    The longest draft of a row is SHORTEST (3 tokens) at first. If all tokens of a draft are accepted, it is doubled
    and increased by 1, up to `block_size`; after any other round, also one without a draft, it is SHORTEST again.
    """

    def __init__(self, drafters: Sequence[Drafter], block_size: int) -> None:
        self._drafters = [drafter.beside(block_size) if isinstance(drafter, Block) else drafter for drafter in drafters]
        self.limit, self.capturable = block_size, all(drafter.capturable for drafter in drafters)
        self.reads_sentences = any(drafter.reads_sentences for drafter in drafters)

    def begin(self, state: State, sentences: Sequence[Sentence]) -> FallbackState:
        short = torch.full_like(state.lengths, min(SHORTEST, self.limit))
        bound = torch.full_like(short, self.limit)
        return FallbackState([drafter.begin(state, sentences) for drafter in self._drafters], short, bound)

    def propose(self, state: State, record: FallbackState, size: int) -> Draft:
        """Return for each row the first draft that is not empty, in the order of the drafters, cut to the
        largest number of tokens that the row may still draft: (B, k). On a CPU, drafters of which no row needs a draft propose nothing.
        """
        ids, counts = state.tokens[:, :0], state.lengths * 0
        for number, (drafter, part) in enumerate(zip(self._drafters, record.records, strict=True)):
            if number and graphs.can_branch(counts.device) and bool(((counts > 0) | state.finished).all()):
                break
            draft = drafter.propose(state, part, 0)
            width = max(ids.shape[1], draft.ids.shape[1])
            ids = torch.where((counts > 0)[:, None], _widened(ids, width), _widened(draft.ids, width))
            counts = torch.where(counts > 0, counts, draft.counts)
        longest = bounded(self.limit, size)
        record.bound.fill_(longest)
        return Draft(ids[:, :longest], counts.minimum(record.longest).clamp_max(longest))

    def observe(self, state: State, record: FallbackState, verdict: Verdict) -> None:
        """Pass the verdict on to all drafters, and set each row's longest draft for the next round."""
        for drafter, part in zip(self._drafters, record.records, strict=True):
            drafter.observe(state, part, verdict)
        accepted = verdict.accepted
        whole = (accepted.drafted > 0) & (accepted.bifurcation == accepted.drafted)
        record.longest.copy_(torch.where(whole, 2 * record.longest + 1, SHORTEST).minimum(record.bound))


def _widened(ids: Tensor, width: int) -> Tensor:
    return F.pad(ids, (0, width - ids.shape[1]))


def make_drafter(inputs: DrafterInputs) -> Drafter | None:
    """Make the drafter of `inputs.decoding`; for a chain of decodings, a Fallback over their drafters in order. None for a
    decoding without drafts.

    Raises UsageError if the bundle has no drafter of the kind that the decoding needs, or if the block size is out
    of its range.
    """
    drafters = [find_maker(method.drafter)(inputs) for method in methods_of(inputs.decoding.method) if method.drafter]
    if len(drafters) > 1:
        return Fallback(drafters, inputs.decoding.block_size or LONGEST_DRAFT)
    return drafters[0] if drafters else None
