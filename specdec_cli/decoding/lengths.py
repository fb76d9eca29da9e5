"""Expected lengths of outputs, at which the drafts of Jacobi decodings end."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Literal

Lengths = Callable[[Sequence[int]], int]
"""Returns for a source (ids, with EOS) the expected number of tokens of its output, EOS included."""


def expected_lengths(length: int | Literal["max"] | None, ratio: float) -> Lengths | None:
    """The number of tokens that Jacobi decoding expects of each output, by the option `jacobi_length`, which is `length` here.

    None if this is "max": the longest output that the model allows. If the option is not given (None), the lengths are estimated as
    `ratio` times the number of source tokens.
    """
    if length == "max":
        return None
    return by_source(ratio) if length is None else fixed(length)


def by_source(ratio: float) -> Lengths:
    """Estimate the length of an output as `ratio` times the number of source tokens, plus a tenth of the number of
    source tokens, each rounded up.

    The tenth is added because about half of all outputs are longer than the mean `ratio` of target to source tokens.
    The ratio of a model for which none was measured is 1.0.
    """

    def length(source: Sequence[int]) -> int:
        tokens = len(source)
        return ceil(round(tokens * ratio, 6)) + (tokens + 9) // 10  # a product such as 10 * 1.1 is rounded to 11 first

    return length


def fixed(tokens: int) -> Lengths:
    """Estimate the length of every output as `tokens`."""
    return lambda _: tokens


def known(outputs: Mapping[tuple[int, ...], int]) -> Lengths:
    """Return the true length of each output, looked up in `outputs` by its source; the source's length for any other source.

    Santilli et al. 2023, Section 4.1, assume known lengths.
    """
    return lambda source: outputs.get(tuple(source), len(source))
