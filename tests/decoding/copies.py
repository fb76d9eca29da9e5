"""A second, simpler implementation of the constraint `most_copies`, with which tests compare the first."""

from array import array
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tests.fakes import VOCABULARY


def form_of(token: int) -> int:
    """The form of a token of the fake vocabulary: 3, 7, 11, .. have that of the token two before; every fourth token has no letter."""
    return -1 - token if token % 4 == 0 else 1 + token - 2 * (token % 4 == 3)


FORMS = array("i", map(form_of, range(VOCABULARY))).tobytes()
"""The forms of all tokens, as `forms_of` returns them."""


def ends_with_copies(text: Sequence[int], copies: int) -> bool:
    """Whether `text` ends with `copies` + 1 copies in a row of a text of 1 to 10 tokens that begins with a letter. The last copy may end
    with its last letter; `text` ends with a letter.
    """
    forms = list(map(form_of, text))
    for size in range(1, 11):
        for kept in range(1, size + 1):
            length = copies * size + kept
            copy = forms[-length:][:size]
            whole = len(forms) >= length and forms[-length:] == (copy * (copies + 1))[:length]
            if whole and copy[0] > 0 and copy[kept - 1] > 0 and not any(form > 0 for form in copy[kept:]):
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
