"""Drafts of few widths, so that few graphs are captured: for GPUs, where a position more costs nothing."""

from dataclasses import replace

from torch.nn import functional as F

from specdec_cli.decoding.drafters import SizedDrafter
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.model.transformer import ROW_MULTIPLE


class Rounded:
    """Widens the drafts of `drafter` to as many tokens as the verifier's pass has room for; what it adds is not meant.

    Who asks for a number of tokens gets as many as fit into the same width, if the drafter can do it.
    """

    def __init__(self, drafter: SizedDrafter) -> None:
        self._drafter, self._most = drafter, drafter.block_size
        self._width = 0

    @property
    def block_size(self) -> int:
        """The most tokens of a draft (0: no bound)."""
        return self._drafter.block_size

    @block_size.setter
    def block_size(self, size: int) -> None:
        self._drafter.block_size = min(_rounded(size), self._most or _rounded(size))

    def begin(self, state: State) -> object:
        """The record of the drafter."""
        return self._drafter.begin(state)

    def propose(self, state: State) -> Draft:
        """The drafter's draft, widened; an empty one stays empty."""
        draft = self._drafter.propose(state)
        self._width = draft.ids.shape[1]
        missing = _rounded(self._width) - self._width
        return replace(draft, ids=F.pad(draft.ids, (0, missing))) if missing else draft

    def observe(self, state: State, verdict: Verdict) -> None:
        """Let the drafter hear of what it drafted, and the one token after it."""
        own = self._width + 1
        accepted = verdict.accepted
        if own < accepted.ids.shape[1]:
            accepted = replace(accepted, ids=accepted.ids[:, :own], predictions=accepted.predictions[:, :own])
            verdict = replace(verdict, accepted=accepted, states=verdict.states[:, :own])
        self._drafter.observe(state, verdict)


def _rounded(tokens: int) -> int:
    """With the last accepted token before them, positions are a multiple."""
    return -(-(tokens + 1) // ROW_MULTIPLE) * ROW_MULTIPLE - 1 if tokens else 0
