"""Lookup: what followed the same tokens in the source, or earlier in the output (names, numbers, markup, code)."""

import torch
from torch import Tensor

from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.names import LONGEST_DRAFT
from specdec_cli.decoding.state import Draft, State, Verdict

LONGEST = 3
"""The longest suffix of the output that is looked for; the longest that is found counts."""


def make(inputs: DrafterInputs) -> "Lookup":
    """Lookup in the output, and in the source if the bundle has one vocabulary."""
    config = inputs.bundle.verifier.config
    return Lookup(inputs.block_size or LONGEST_DRAFT, config.eos, config.padding, inputs.bundle.tokenizer.shared)


class Lookup:
    """Copies up to `block_size` tokens from after the last place where the end of the output stands in source or output.

    After prompt lookup (Saxena 2023), with the source of a translation for the prompt; the source is left out if its
    vocabulary is another one (not `shared`).
    """

    def __init__(self, block_size: int, eos: int, padding: int, shared: bool = True) -> None:
        self.block_size, self._shared = block_size, shared
        self._eos, self._padding = eos, padding

    def begin(self, state: State) -> object:  # noqa: ARG002
        """No record: all is in the state."""
        return None

    def propose(self, state: State) -> Draft:
        """What followed (B, k), an empty draft where nothing was found."""
        text, known = self._searched(state)
        suffix = _suffix(state)
        places = torch.arange(text.shape[1], device=text.device)
        # The end of the output stands where it stands; other places are meant.
        matching = known & (places != (text.shape[1] - state.tokens.shape[1] + state.lengths - 1)[:, None])
        start = torch.full_like(state.lengths, -1)
        for back in range(LONGEST):
            # Still matching at its end when all `back` + 1 last tokens are the text's.
            same = (text == suffix[:, back, None]).roll(back, 1)
            same[:, :back] = False
            matching = matching & same
            # A longer suffix that is found goes before a shorter one.
            start = torch.where(matching.any(1), (matching * (places + 1)).amax(1), start)
        steps = torch.arange(self.block_size, device=text.device)
        found = (start[:, None] + steps).clamp(0, text.shape[1] - 1)
        meant = known.gather(1, found) & (start[:, None] + steps < text.shape[1]) & (start >= 0)[:, None]
        counts = meant.cumprod(1).sum(1).minimum(state.limits - state.lengths).masked_fill(state.finished, 0)
        return Draft(text.gather(1, found), counts)

    def observe(self, state: State, verdict: Verdict) -> None:
        """Nothing to learn: what was accepted is in the state."""

    def _searched(self, state: State) -> tuple[Tensor, Tensor]:
        """The source, then the output so far (B, M + S), and which of it is text (B, M + S)."""
        places = torch.arange(state.tokens.shape[1], device=state.tokens.device)
        written = (places > 0) & (places < state.lengths[:, None])
        if not self._shared:
            return state.tokens, written
        source = (state.source != self._padding) & (state.source != self._eos)
        return torch.cat([state.source, state.tokens], dim=1), torch.cat([source, written], dim=1)


def _suffix(state: State) -> Tensor:
    """The last tokens (B, LONGEST) of each row, the very last first; -1 before the first."""
    places = state.lengths[:, None] - 1 - torch.arange(LONGEST, device=state.tokens.device)
    return state.tokens.gather(1, places.clamp_min(0)).masked_fill(places < 1, -1)
