"""The token repetition rate."""

import pytest

from specdec_cli.metrics.repetition import repetition_rate


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ([], 0.0),
        ([[], []], 0.0),
        ([[5]], 0.0),
        ([[5, 6, 5, 6]], 0.0),
        ([[5, 5]], 1 / 2),
        ([[5, 5, 5, 6]], 2 / 4),
        ([[5, 6], [6, 7, 7]], 1 / 5),  # a sentence does not go on in the next one
    ],
)
def test_the_share_of_tokens_that_repeat_the_one_before(sentences: list[list[int]], expected: float) -> None:
    assert repetition_rate(sentences) == expected
