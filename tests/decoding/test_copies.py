"""What counts as a copy, and which tokens have letters."""

import pytest

from specdec_cli.commands.loading import SHIPPED
from specdec_cli.model.bundle_description import describe_bundle
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
        ([8, 8, 8], 2, False),
    ],
)
def test_copies_count_between_letters(text: list[int], copies: int, expected: bool) -> None:
    assert ends_with_copies(text, copies) == expected


def test_pieces_that_stand_for_no_text_have_no_letter() -> None:
    tokenizer = describe_bundle(SHIPPED / "en-de").tokenizer
    target, source = tokenizer.letters()
    having = {piece for piece, letter in zip(tokenizer.vocabulary(), target, strict=True) if letter}
    assert target == source and "▁das" in having
    assert having.isdisjoint({"</s>", "<unk>", ".", "▁1", "▁"})
