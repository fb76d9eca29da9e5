"""Training in two processes under torchrun, on a CPU: the same result as in one, and restarts from the checkpoint."""

import csv
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.commands.training.conftest import RUN, SMALL, settings

DRAFTER = ["drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "drafter.layers=1"]


ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def command(processes: int, *arguments: object) -> list[str]:
    """The command that runs specdec in this many processes that torchrun starts; one process without it."""
    launched = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "--max-restarts", "1"]
    return [sys.executable, *(launched if processes > 1 else []), "-m", "specdec_cli", *map(str, arguments)]


def start(processes: int, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run specdec in this many processes, and wait for them."""
    return subprocess.run(command(processes, *arguments), env=ENVIRONMENT, capture_output=True, text=True)


def verifier(folder: Path, text: Path, tokenizer: Subwords, *changes: str) -> list[object]:
    data = ["--data", f"{text}*2", "--dev", text, "--tokenizer", tokenizer.path, "--threads", 1, "--device", "cpu"]
    shape = settings(*SMALL, *RUN, "run.dropout=0.0", "run.evaluate_every=1", "run.max_updates=7", *changes)
    return ["train-verifier", folder, *data, *shape]


def rows(folder: Path) -> list[tuple[int, float, dict[str, float]]]:
    """Update, loss and figures of each row of the log of a run."""
    with (folder / "metrics.csv").open(encoding="utf-8") as stream:
        found = list(csv.DictReader(stream))
    figures = [dict(pair.split("=") for pair in row["figures"].split()) for row in found]
    return [
        (int(row["update"]), float(row["loss"]), {name: float(value) for name, value in each.items()})
        for row, each in zip(found, figures, strict=True)
    ]


def assert_equal_losses(one: Path, two: Path, updates: int) -> None:
    first, second = rows(one), rows(two)
    assert [update for update, _, _ in first] == [update for update, _, _ in second] == list(range(1, updates + 1))
    assert [loss for _, loss, _ in second] == pytest.approx([loss for _, loss, _ in first], abs=1.1e-4)  # the log has four digits
    for (_, _, before), (_, _, after) in zip(first, second, strict=True):
        assert after == pytest.approx(before, abs=1.1e-4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sharded", ["false", "true"])
def test_two_processes_train_as_one_does_with_the_same_batches(sharded: str, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    one = start(1, *verifier(tmp_path / "one", text, tokenizer, "run.accumulation=2", "optimizer.decay_from=1.0"))
    changes = [f"run.sharded={sharded}", "optimizer.decay_from=1.0"]
    half = start(2, *verifier(tmp_path / "two", text, tokenizer, *changes, "run.max_updates=4"))
    assert half.returncode == 0, half.stderr
    assert "find_unused_parameters" not in half.stderr
    two = start(2, *verifier(tmp_path / "two", text, tokenizer, *changes))
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert_equal_losses(tmp_path / "one", tmp_path / "two", 7)


@pytest.mark.long
def test_a_drafter_is_trained_by_two_processes_as_by_one(trained: Path, text: Path, tmp_path: Path) -> None:
    data = ["-m", trained, "--data", text, "--dev", text, "--threads", 1, "--device", "cpu"]
    shape = settings(*RUN, *DRAFTER, "known=1.0", "run.dropout=0.0", "run.evaluate_every=1", "run.max_updates=4")
    one = start(1, "train-drafter", tmp_path / "one", *data, *shape, "--set", "run.accumulation=2")
    two = start(2, "train-drafter", tmp_path / "two", *data, *shape)
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert_equal_losses(tmp_path / "one", tmp_path / "two", 4)


def rank_process(parent: int, rank: int) -> int:
    """The number of the process of a rank, a child of torchrun's process `parent`."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and f"\nPPid:\t{parent}\n" in (folder / "status").read_text():
            variables = (folder / "environ").read_bytes().split(b"\0")
            if f"RANK={rank}".encode() in variables:
                return int(folder.name)
    raise AssertionError(f"torchrun has no child of rank {rank}")


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
def test_a_killed_process_restarts_from_the_checkpoint(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    updates = 40
    change = f"run.max_updates={updates}"
    whole = start(2, *verifier(tmp_path / "whole", text, tokenizer, change))
    assert whole.returncode == 0, whole.stderr
    arguments = command(2, *verifier(tmp_path / "killed", text, tokenizer, change))
    with subprocess.Popen(arguments, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "killed" / "metrics.csv").exists() or len(rows(tmp_path / "killed")) < 5:
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(rank_process(process.pid, 1), 9)
        _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "resuming after update" in errors
    assert_equal_losses(tmp_path / "whole", tmp_path / "killed", updates)
