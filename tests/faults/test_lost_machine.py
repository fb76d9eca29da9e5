"""A machine that a cluster loses during `distill --ray`. The machines are nodes of a Ray cluster on this one."""

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands.cluster_runs import alone, run, start
from tests.conftest import make_lines
from tests.faults.process_tree import descendants, kill

cluster_utils = pytest.importorskip("ray.cluster_utils")
pytestmark = pytest.mark.long

_SECONDS = 300.0
_WORKERS = ("ray::Worker", "specdec_cli.distillation.worker")


def _wait_for_shards(output: Path, count: int, process: Any) -> None:
    """Wait until `count` shards are stored, which must be before the process ends."""
    end = time.monotonic() + _SECONDS
    while len(list(output.glob("shard-*.json"))) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)


def _stop_workers() -> list[int]:
    """Stop the workers below this process where they are, so that the shard under way is not finished."""
    workers = [number for number, line in descendants(os.getpid()).items() if any(name in line for name in _WORKERS)]
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    return workers


def test_the_work_of_a_lost_machine_is_done_by_one_that_joins(bundle_folder: Path, tmp_path: Path) -> None:
    texts = [f"{line} {number}" for number, line in enumerate(make_lines(2_000, seed=6))]
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in texts))
    options = [tmp_path / "in.txt", "--beam-size", 4, "--max-length", 40, "--keep-copies", "--shard-lines", 20]
    plain = run("distill", bundle_folder, tmp_path / "plain", *options, "--threads", 1)
    assert plain.returncode == 0, plain.stderr
    with alone():
        machines = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        try:
            lost = machines.add_node(num_cpus=1)
            ray = ["--ray", machines.address, "--workers", 1]
            with start("distill", bundle_folder, tmp_path / "ray", *options, *ray) as process:
                _wait_for_shards(tmp_path / "ray", 10, process)
                workers = _stop_workers()
                assert len(workers) == 2
                machines.remove_node(lost, allow_graceful=False)
                for worker in workers:
                    kill(worker)
                machines.add_node(num_cpus=1)
                _, errors = process.communicate()
        finally:
            machines.shutdown()
    assert process.returncode == 0, errors
    assert (tmp_path / "ray" / "distilled.tsv").read_text() == (tmp_path / "plain" / "distilled.tsv").read_text()
    assert re.search(r"failed tries\W+[1-9]", errors)
