"""The description of the decoding in --stats."""

import pytest

from specdec_cli.commands.reports import decoding_in_words
from specdec_cli.decoding.options import Decoding


@pytest.mark.parametrize(
    ("drafted", "words"),
    [
        (None, "specdec, block size 10"),
        ((0, 0.0), "greedy (specdec would be slower here)"),
        ((40, 3.25), "specdec, drafts in 40 of 304 rounds, block size 3.2 on average"),
    ],
)
def test_statistics_name_the_decoding_that_ran(drafted: tuple[int, float] | None, words: str) -> None:
    assert decoding_in_words(Decoding(method="specdec", block_size=10), drafted, 304) == words
