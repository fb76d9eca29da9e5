"""Precision of n-grams at the head and at the tail."""

import pytest

from specdec_cli.metrics.scoring import end_precision


@pytest.mark.parametrize(
    ("order", "tokens", "expected"),
    [
        (1, None, 4 / 5),
        (1, 3, 1.0),
        (1, -2, 1 / 2),
        (2, None, 2 / 4),
        (2, 3, 1.0),
        (4, None, 0.0),
        (4, 3, None),  # three tokens have no 4-gram
    ],
)
def test_ngrams_of_a_part_are_counted(order: int, tokens: int | None, expected: float | None) -> None:
    assert end_precision(["a b c d e"], ["a b c x e"], order, tokens) == expected


def test_matches_are_clipped_by_line() -> None:
    assert end_precision(["a a a a"], ["a a b"], 1) == 2 / 4
    assert end_precision(["a", "b"], ["b", "b"], 1) == 1 / 2  # another line's reference does not count
    assert end_precision([""], ["a"], 1) is None


def test_punctuation_is_a_token() -> None:
    assert end_precision(["Ja."], ["Ja!"], 1, -1) == 0.0
    assert end_precision(["Ja."], ["Ja!"], 1, 1) == 1.0
