"""Functions that estimate the lengths of outputs, for decodings that draft up to the end of the output."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from specdec_cli.decoding.state import State

Lengths = Callable[[State], Tensor]
"""Returns for a state the expected number of tokens of each row's output (B,), EOS included."""


def by_source(ratio: float, padding: int) -> Lengths:
    """Estimate the length of an output as `ratio` times the number of source tokens, plus a tenth of the number of
    source tokens, each rounded up; EOS is counted in both.

    The tenth is added because about half of all outputs are longer than the mean `ratio` of target to source tokens.
    `padding` is the padding id. The ratio of a model for which none was measured is 1.0.
    """

    def lengths(state: State) -> Tensor:
        tokens = (state.source != padding).sum(1)
        return (tokens * ratio).ceil().long() + (tokens + 9) // 10

    return lengths


def fixed(tokens: int) -> Lengths:
    """Estimate the length of every output as `tokens`, EOS included."""
    return lambda state: torch.full_like(state.lengths, tokens)


def known(outputs: Mapping[tuple[int, ...], int], padding: int) -> Lengths:
    """Return the true length of each output, EOS included, looked up in `outputs` by its source ids (with EOS,
    without padding); the source's length for any other source.

    `padding` is the padding id. Santilli et al. 2023, Section 4.1, assume known lengths.
    """

    def lengths(state: State) -> Tensor:
        sources = [tuple(token for token in row if token != padding) for row in state.source.tolist()]
        return state.lengths.new_tensor([outputs.get(source, len(source)) for source in sources])

    return lengths
