"""Padding of drafts to few sizes, so that few CUDA graphs are captured; on a GPU a few more positions take no
longer.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch.nn import functional as F

from specdec_cli.decoding.drafters import SizedDrafter, bounded
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.model.transformer import ROW_MULTIPLE


class PaddedDrafter:
    """Pads the drafts (B, k) of `drafter` so that the verifier's pass, over the last accepted token and the draft,
    has a multiple of 4 (ROW_MULTIPLE) positions: k + 1 is rounded up to it.

    The padding is never accepted, because a draft's `counts` do not include it. The size that is asked for is
    rounded up in the same way, to 3, 7, 11 and so on, but not above the drafter's block size, if that is not 0.
    """

    def __init__(self, drafter: SizedDrafter) -> None:
        self._drafter, self._size = drafter, 0

    @property
    def block_size(self) -> int:
        """The largest number of tokens in a draft (0: no limit)."""
        return self._drafter.block_size

    @property
    def capturable(self) -> bool:
        return self._drafter.capturable

    def begin(self, state: State, sentences: Sequence[Sentence]) -> Any:
        return self._drafter.begin(state, sentences)

    def propose(self, state: State, memory: Any, size: int) -> Draft:
        """Return the wrapped drafter's draft with its ids (B, k) padded with 0, so that k + 1 is a multiple of
        ROW_MULTIPLE. The counts do not change, so the padding cannot be accepted; a draft with k = 0 stays empty.
        """
        draft = self._drafter.propose(state, memory, bounded(self.block_size, _padded_size(size)))
        self._size = draft.ids.shape[1]
        missing = _padded_size(self._size) - self._size
        return replace(draft, ids=F.pad(draft.ids, (0, missing))) if missing else draft

    def observe(self, state: State, memory: Any, verdict: Verdict) -> None:
        slots = self._size + 1
        accepted = verdict.accepted
        if slots < accepted.ids.shape[1]:
            accepted = replace(accepted, ids=accepted.ids[:, :slots], predictions=accepted.predictions[:, :slots])
            verdict = replace(verdict, accepted=accepted, states=verdict.states[:, :slots])
        self._drafter.observe(state, memory, verdict)


def _padded_size(tokens: int) -> int:
    """The size of a padded draft: with the last accepted token it is a multiple of ROW_MULTIPLE. 0 for an empty draft."""
    return -(-(tokens + 1) // ROW_MULTIPLE) * ROW_MULTIPLE - 1 if tokens else 0
