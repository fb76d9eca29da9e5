"""The orders in which a model writes a sentence: from either end or from both, one token or two in a step, or all at once.

Imamura and Sumita, "Transformer-based Double-token Bidirectional Autoregressive Decoding" (Section 3.2 and Table 2).
"masked" models write all tokens at once and then some of them again (Ghazvininejad et al. 2019, "Mask-Predict").
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal, get_args

Order = Literal["left-to-right", "right-to-left", "double-left-to-right", "double-right-to-left", "bidirectional", "masked"]
ORDERS: tuple[Order, ...] = get_args(Order)[:5]
"""Those that write step by step."""


def tokens_per_step(order: Order) -> int:
    """How many tokens a model of this order writes in a step: 1 or 2. A masked model has no steps; its tokens are not folded."""
    return 1 if order in ("left-to-right", "right-to-left", "masked") else 2


def folded_places(words: int, order: Order) -> list[int]:
    """The places of a sentence of so many words in the order in which they are written; the place `words` is the end.

    Bidirectional: first, last, second, last but one; the left half is the longer one. The end comes once, or twice where
    that makes the number of places a multiple of the tokens of a step.
    """
    places = range(words)
    written = list(places)
    if order in ("right-to-left", "double-right-to-left"):
        written.reverse()
    elif order == "bidirectional":
        half = -(-words // 2)
        pairs = zip_longest(places[:half], reversed(places[half:]))
        written = [place for pair in pairs for place in pair if place is not None]
    step = tokens_per_step(order)
    return written + [words] * (step - words % step)


def fold(words: Sequence[int], order: Order, end: int) -> list[int]:
    """The tokens of a sentence, without its end, in the order in which they are written, then `end` once or twice."""
    ended = [*words, end]
    return [ended[place] for place in folded_places(len(words), order)]


def unfold(folded: Sequence[int], order: Order, end: int) -> list[int]:
    """The inverse of `fold`: the tokens up to the first `end`, or all of them where there is none, as a sentence."""
    words = list(folded[: folded.index(end)] if end in folded else folded)
    if order in ("right-to-left", "double-right-to-left"):
        words.reverse()
    return words[::2] + words[1::2][::-1] if order == "bidirectional" else words
