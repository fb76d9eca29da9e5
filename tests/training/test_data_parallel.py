"""Shares of updates: every batch is in one share, and weights are those of a mean over all batches of the update."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.training.data_parallel import shares


@given(st.integers(0, 30), st.integers(1, 4), st.integers(1, 5))
def test_shares_hold_each_batch_once(count: int, accumulation: int, processes: int) -> None:
    keys = list(range(count))
    of_processes = [list(shares(keys, accumulation, rank, processes)) for rank in range(processes)]

    assert len({len(each) for each in of_processes}) == 1  # all processes make the same number of updates
    counted = sorted(key for each in of_processes for share in each for key in share.keys if share.weight)
    assert counted == keys
    for update in zip(*of_processes, strict=True):
        # The mean over the processes of the weighted sums is the mean over the batches.
        assert sum(len(share.keys) * share.weight for share in update) / processes == pytest.approx(1)
        assert len({share.weight for share in update if share.weight}) == 1
