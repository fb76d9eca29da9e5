"""Expected lengths of outputs, for decodings that draft up to the end."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from specdec_cli.decoding.state import State

Lengths = Callable[[State], Tensor]
"""Expected tokens of the output (B,) of each row, EOS included."""


def by_source(ratio: float, padding: int) -> Lengths:
    """`ratio` times the number of source tokens, and a tenth of that number more.

    About half of all outputs are longer than the mean ratio of target to source tokens. The ratio of a model for which none
    was measured is 1.0.
    """

    def lengths(state: State) -> Tensor:
        tokens = (state.source != padding).sum(1)
        return (tokens * ratio).ceil().long() + (tokens + 9) // 10

    return lengths


def fixed(tokens: int) -> Lengths:
    """`tokens` for every output."""
    return lambda state: torch.full_like(state.lengths, tokens)


def known(outputs: Mapping[tuple[int, ...], int], padding: int) -> Lengths:
    """The true length of each output from `outputs`, by its source ids; the source's length for a source that is not in them.

    Santilli et al. 2023, Section 4.1: the length is known beforehand.
    """

    def lengths(state: State) -> Tensor:
        sources = [tuple(token for token in row if token != padding) for row in state.source.tolist()]
        return state.lengths.new_tensor([outputs.get(source, len(source)) for source in sources])

    return lengths
