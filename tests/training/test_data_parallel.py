"""Shares of updates: every batch is in one share, with the weights of a mean over all batches of the update; the automatic precision."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import UsageError
from specdec_cli.training import data_parallel
from specdec_cli.training.data_parallel import shares
from specdec_cli.training.recipe import Precision, RunSettings


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


@pytest.mark.parametrize(
    ("asked", "fast", "used"),
    [
        ("auto", True, "bf16-mixed"),
        ("auto", False, "32-true"),
        ("bf16-mixed", False, "bf16-mixed"),
        # Lightning Fabric would warn, and compute in bfloat16 in any case.
        ("16-mixed", True, "bf16-mixed"),
        ("16-mixed", False, "32-true"),
    ],
)
def test_automatic_precision_is_bfloat16_only_where_it_is_fast(asked: Precision, fast: bool, used: str) -> None:
    with patch.object(data_parallel, "has_bfloat16_products", return_value=fast):
        fabric = data_parallel.launch_fabric(RunSettings(precision=asked), "cpu", 1)
    assert fabric._precision.precision == used


def test_sharded_weights_in_half_precision_are_refused() -> None:
    with pytest.raises(UsageError, match=r"run\.sharded does not go with run\.precision=16-mixed"):
        data_parallel.launch_fabric(RunSettings(precision="16-mixed", sharded=True), "cuda", 2)
