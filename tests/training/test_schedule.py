"""The learning rate over the updates."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.training.recipe import OptimizerSettings
from specdec_cli.training.trainer import learning_rate

CONSTANT = OptimizerSettings(learning_rate=2.0, warmup=10, schedule="constant", decay_from=0.5)
INVERSE = OptimizerSettings(learning_rate=2.0, warmup=10, schedule="inverse-sqrt")


@pytest.mark.parametrize("settings", [CONSTANT, INVERSE])
def test_the_rate_rises_linearly_in_the_warm_up(settings: OptimizerSettings) -> None:
    assert [learning_rate(settings, update, 100) for update in (1, 5, 10)] == pytest.approx([0.2, 1.0, 2.0])


def test_the_constant_rate_falls_linearly_to_0_at_the_end() -> None:
    assert [learning_rate(CONSTANT, update, 100) for update in (11, 50, 75, 100)] == pytest.approx([2.0, 2.0, 1.0, 0.0])


def test_the_rate_falls_with_the_square_root() -> None:
    assert [learning_rate(INVERSE, update, 100) for update in (40, 90, 1000)] == pytest.approx([1.0, 2 / 3, 0.2])


@given(
    warmup=st.integers(0, 50),
    schedule=st.sampled_from(["constant", "inverse-sqrt"]),
    decay_from=st.floats(0.0, 1.0),
    max_updates=st.integers(51, 300),
)
def test_the_rate_is_positive_and_falls_only_after_the_warm_up(warmup: int, schedule: str, decay_from: float, max_updates: int) -> None:
    settings = OptimizerSettings(learning_rate=1.0, warmup=warmup, schedule=schedule, decay_from=decay_from)  # type: ignore[arg-type]
    rates = [learning_rate(settings, update, max_updates) for update in range(1, max_updates + 1)]
    assert all(0 < rate <= 1 for rate in rates[:-1])
    assert all(later <= earlier for earlier, later in pairwise(rates[max(warmup, 1) :]))
