"""A second, simpler implementation of the constraint `most_copies`, with which tests compare the first."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tests.fakes import VOCABULARY

LETTERS = bytes(number % 4 != 0 for number in range(VOCABULARY))
"""Which tokens have a letter."""


def ends_with_copies(text: Sequence[int], copies: int) -> bool:
    """Whether `text` ends with `copies` + 1 copies in a row of a text of 1 to 6 tokens that begins with a letter. The last copy may end
    with its last letter; `text` ends with a letter.
    """
    for size in range(1, 7):
        for kept in range(1, size + 1):
            length = copies * size + kept
            copy = text[-length:][:size]
            whole = len(text) >= length and list(text[-length:]) == (list(copy) * (copies + 1))[:length]
            if whole and LETTERS[copy[0]] and LETTERS[copy[kept - 1]] and not any(LETTERS[token] for token in copy[kept:]):
                return True
    return False


def limited_copies(copies: int, source: Sequence[int]) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a logits processor, as in transformers, that applies `most_copies` to the output for one `source`."""

    def process(ids: Tensor, logits: Tensor) -> Tensor:
        if any(ends_with_copies(source[: end + 1], copies) for end in range(len(source))):
            return logits
        excluded = [ends_with_copies([*ids[0].tolist(), token], copies) for token in range(VOCABULARY)]
        return logits.masked_fill(torch.tensor([excluded]), -torch.inf)

    return process
