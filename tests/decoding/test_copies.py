"""What counts as a copy, and the forms of pieces."""

from array import array

import pytest
import torch

from specdec_cli.decoding.constraints import forms_tensor
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.opening.models import SHIPPED
from specdec_cli.text.tokenize.tokenizer import forms_of
from tests.decoding.copies import ends_with_copies


@pytest.mark.parametrize(
    ("text", "copies", "expected"),
    [
        ([5, 9, 9], 1, True),
        ([5, 9, 9], 2, False),
        ([9, 9, 9], 2, True),
        ([9, 8, 9, 8, 9], 2, True),  # 8 has no letter
        ([9, 8, 9, 8, 9, 8], 2, False),
        ([9, 10, 9, 10, 9], 2, False),
        ([9, 10, 9, 10, 9, 10], 2, True),
        ([9, 8, 11, 8, 9], 2, True),  # 11 has the form of 9
        ([8, 8, 8], 2, False),
    ],
)
def test_copies_count_between_letters(text: list[int], copies: int, expected: bool) -> None:
    assert ends_with_copies(text, copies) == expected


def test_pieces_that_stand_for_no_text_have_no_letter() -> None:
    tokenizer = describe_bundle(SHIPPED / "en-de").tokenizer
    target, source = (array("i", each) for each in tokenizer.forms())
    forms = dict(zip(tokenizer.vocabulary(), target, strict=True))
    assert target == source and forms["\u2581T"] == forms["T"] > 0
    assert all(forms[piece] < 0 for piece in ("</s>", "<unk>", ".", "\u25811", "\u2581"))


def test_letters_of_byte_level_pieces_keep_their_case() -> None:
    forms = array("i", forms_of(["\u0120a", "\u00c3", "\u00e3"], lambda piece: piece.startswith("\u0120")))
    assert list(forms) == [1, 2, 3]


def test_forms_ignore_marks_of_words_and_case() -> None:
    forms = array("i", forms_of(["\u2581a", "a", "\u0120b", "B", "b", ".", "\u2581."], lambda piece: piece != "\u0120b"))
    assert list(forms) == [1, 1, 2, 3, 3, -4, -4]


def test_forms_that_a_graph_reads_stay_where_they_are() -> None:
    """A CUDA graph reads them at the address of its capture, and capturing must not bring them from the CPU again."""
    device = torch.device("cpu")
    first = forms_tensor(bytes(16), device)
    for number in range(1, 10):
        forms_tensor(bytes([number] * 16), device)
    assert forms_tensor(bytes(16), device) is first
