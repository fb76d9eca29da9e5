"""The simulation of runs on clusters, and its agreement with the stored measurements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.scale_simulation import Costs, bottleneck, simulate
from tools.scale_tables import costs, is_quiet, measured

COSTS = Costs(worker=10.0, send=0.1, store=0.4, bytes=1e5)


def test_one_worker_and_the_command_take_turns() -> None:
    run = simulate(1, 8, COSTS)
    assert run.seconds == pytest.approx(8 * 10.5)
    assert run.workers_busy == pytest.approx(10 / 10.5)


def test_many_workers_are_limited_by_the_command() -> None:
    run = simulate(1000, 20_000, COSTS)
    assert run.seconds == pytest.approx(20_000 * COSTS.command, rel=0.01)
    assert run.command_busy == pytest.approx(1, abs=0.01)
    for workers, expected in ((1000, "the command"), (20, "the workers")):
        name, most = bottleneck(workers, COSTS)
        assert (name, round(most, 6)) == (expected, 21)
    assert bottleneck(10**6, Costs(10.0, 0.0001, 0.0001, 1e8))[0] == "its network"


@given(st.integers(1, 30), st.integers(1, 100))
def test_no_run_beats_its_limits(workers: int, shards: int) -> None:
    run = simulate(workers, shards, COSTS)
    rounds = -(-shards // workers)
    assert run.seconds >= max(rounds * COSTS.worker, shards * COSTS.command) - 1e-9
    assert 0 < run.workers_busy <= 1 and 0 < run.command_busy <= 1
    assert simulate(workers + 1, shards, COSTS).seconds <= run.seconds + 1e-9


def test_the_simulation_agrees_with_the_measured_runs() -> None:
    distill, sleepers = measured()["distill"], measured()["sleepers"]
    asleep = Costs(sleepers["seconds_a_shard"], costs().send, costs().store, 0)
    assert simulate(sleepers["workers"], sleepers["shards"], asleep).seconds == pytest.approx(sleepers["wall"], rel=0.05)
    if not is_quiet():
        pytest.skip("the stored result was measured while other programs used the processors")
    cost, shards = costs(distill["shard_lines"]), distill["lines"] // distill["shard_lines"]
    for workers, name in ((1, "one"), (2, "two")):
        simulated = distill["lines"] / simulate(workers, shards, cost).seconds
        assert simulated == pytest.approx(distill[name]["lines_per_second"], rel=0.15)
