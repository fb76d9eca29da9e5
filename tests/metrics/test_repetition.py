"""The token repetition rate."""

import pytest

from specdec_cli.metrics.scoring import repetition_rate


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ([], 0.0),
        ([[], []], 0.0),
        ([[5]], 0.0),
        ([[5, 6, 5, 6]], 0.0),
        ([[5, 5]], 1 / 2),
        ([[5, 5, 5, 6]], 2 / 4),
        ([[5, 6], [6, 7, 7]], 1 / 5),  # repetitions are not counted across sentences
    ],
)
def test_repeated_tokens_are_counted_within_sentences(sentences: list[list[int]], expected: float) -> None:
    assert repetition_rate(sentences) == expected
