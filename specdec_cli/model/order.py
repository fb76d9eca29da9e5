"""Generation orders: left to right, right to left or from both ends, one or two tokens a step; or all tokens at
once.

Imamura and Sumita 2020, "Transformer-based Double-token Bidirectional Autoregressive Decoding" (Section 3.2 and
Table 2). Models of order "masked" predict all tokens at once and then some of them again (Ghazvininejad et al. 2019,
"Mask-Predict").
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal

Order = Literal["left-to-right", "right-to-left", "double-left-to-right", "double-right-to-left", "bidirectional", "masked"]


def tokens_per_step(order: Order) -> int:
    """The number of tokens that a model of this order emits in a step: 1 or 2; for "masked", which has no steps, 1."""
    return 1 if order in ("left-to-right", "right-to-left", "masked") else 2


def folded_positions(length: int, order: Order) -> list[int]:
    """The positions of the tokens of a sentence of `length` tokens in generation order, then `length`, the position
    of EOS, once or twice.

    Bidirectional: the first, the last, the second, the last but one, and so on; the left half may have one token
    more. The position of EOS comes twice if that makes the number of positions a multiple of the tokens per step.
    """
    positions = range(length)
    ordered = list(positions)
    if order in ("right-to-left", "double-right-to-left"):
        ordered.reverse()
    elif order == "bidirectional":
        half = -(-length // 2)
        pairs = zip_longest(positions[:half], reversed(positions[half:]))
        ordered = [position for pair in pairs for position in pair if position is not None]
    step = tokens_per_step(order)
    return ordered + [length] * (step - length % step)


def fold(ids: Sequence[int], order: Order, eos: int) -> list[int]:
    """Put the `ids` of a sentence (without EOS) in generation order, and add `eos` once or twice (see
    `folded_positions`).
    """
    ended = [*ids, eos]
    return [ended[position] for position in folded_positions(len(ids), order)]


def unfold(folded: Sequence[int], order: Order, eos: int) -> list[int]:
    """Put the ids before the first `eos` (all if there is none), which are in generation order, in the order of the
    sentence.
    """
    ids = list(folded[: folded.index(eos)] if eos in folded else folded)
    if order in ("right-to-left", "double-right-to-left"):
        ids.reverse()
    return ids[::2] + ids[1::2][::-1] if order == "bidirectional" else ids
