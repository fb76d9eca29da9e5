"""What followed a token, or two, the last time: a memory of all output so far."""

import torch
from torch import Tensor

from specdec_cli.decoding.state import Accepted, State

_PLACES = 1 << 16
_UNKNOWN = -1


class Continuations:
    """The last continuation of every token, and of every pair of tokens, that was seen in any sentence.

    Two tables, of `vocabulary_size` and of a fixed number of hashed places; a collision costs a wrong guess.
    """

    def __init__(self, vocabulary_size: int, device: torch.device) -> None:
        self._after_one = torch.full((vocabulary_size,), _UNKNOWN, device=device)
        self._after_two = torch.full((_PLACES,), _UNKNOWN, device=device)

    def fill(self, state: State, guesses: Tensor) -> Tensor:
        """`guesses` (B, k) for what follows, with what is remembered in the place of each, one after the other."""
        before, last = _two_last(state)
        filled = guesses.clone()
        for slot in range(guesses.shape[1]):
            found = self._after_two[_hashed(before, last)]
            found = torch.where(found == _UNKNOWN, self._after_one[last], found)
            filled[:, slot] = torch.where(found == _UNKNOWN, guesses[:, slot], found)
            before, last = last, filled[:, slot]
        return filled

    def observe(self, state: State, accepted: Accepted) -> None:
        """Remember what was accepted."""
        tokens = torch.cat([*(column[:, None] for column in _two_last(state)), accepted.ids], dim=1)
        new = torch.arange(accepted.ids.shape[1], device=tokens.device) < accepted.counts[:, None]
        self._after_one[tokens[:, 1:-1][new]] = accepted.ids[new]
        self._after_two[_hashed(tokens[:, :-2], tokens[:, 1:-1])[new]] = accepted.ids[new]


def _two_last(state: State) -> tuple[Tensor, Tensor]:
    """The last token but one (B,) and the last (B,) of each row; the decoder start is before itself."""
    last = state.lengths[:, None] - 1
    return state.tokens.gather(1, (last - 1).clamp_min(0))[:, 0], state.tokens.gather(1, last)[:, 0]


def _hashed(before: Tensor, last: Tensor) -> Tensor:
    return (before * 40503 + last * 2654435761) % _PLACES
