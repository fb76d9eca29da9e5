"""Kills of workers, teachers, Ray's own processes and the command during `distill --ray`: every line is in the output exactly once."""

import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.cluster_runs import alone, run, start
from tests.conftest import make_lines
from tests.faults.process_tree import descendants, kill, wait_for_end

pytestmark = [pytest.mark.long, pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")]

KINDS = {"worker": "ray::Worker", "teacher": "specdec_cli.distillation.worker", "raylet": "/raylet/raylet"}
"""A part of the command lines of the processes of each kind."""


class Killer:
    """Runs `command` again until it ends by itself, and kills one of its processes after every few shards, as `kinds` says."""

    def __init__(self, command: list[object], output: Path, kinds: list[str], seed: int) -> None:
        self.command, self.output, self.kinds, self.random = command, output, kinds, random.Random(seed)
        self._below: dict[int, str] = {}

    def run(self) -> None:
        """Raise AssertionError if the last start fails, or if a process is left behind."""
        while True:
            with start(*self.command) as process:
                self._disturb(process)
                _, errors = process.communicate()
            # Ray's agents notice after a minute that the others were killed.
            wait_for_end(number for number, line in self._below.items() if any(part in line for part in KINDS.values()))
            if process.returncode != -9:
                break
        assert process.returncode == 0, errors
        assert not self.kinds, f"ended before {len(self.kinds)} kills"
        wait_for_end(self._below)

    def _disturb(self, process: "subprocess.Popen[str]") -> None:
        """Kill processes until the command itself is killed or no kill is left."""
        while self.kinds and process.poll() is None:
            self._wait_for_shard(process)
            time.sleep(self.random.uniform(0, 0.3))
            found = descendants(process.pid)
            self._below |= found
            kind = self.kinds[-1]
            numbers = [number for number, line in found.items() if KINDS.get(kind, "\n") in line]
            if kind == "command":
                numbers = [process.pid]
            if numbers and process.poll() is None:
                kill(self.random.choice(numbers))
                self.kinds.pop()

    def _wait_for_shard(self, process: "subprocess.Popen[str]") -> None:
        before = len(list(self.output.glob("shard-*.json")))
        while process.poll() is None and len(list(self.output.glob("shard-*.json"))) == before:
            time.sleep(0.02)


def test_killed_runs_lose_and_repeat_no_line(bundle_folder: Path, tmp_path: Path, long: bool, count: Callable[[str], None]) -> None:
    lines, kills = (20_000, 30) if long else (6_000, 4)
    texts = [f"{line} {number}" for number, line in enumerate(make_lines(lines, seed=5))]
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in texts))
    options = [tmp_path / "in.txt", "--beam-size", 4, "--max-length", 40, "--keep-copies", "--shard-lines", 50 if long else 75]
    plain = run("distill", bundle_folder, tmp_path / "plain", *options, "--threads", 1)
    assert plain.returncode == 0, plain.stderr
    kinds = [*KINDS, "command"] * (kills // 4 + 1)
    killer = Killer(
        ["distill", bundle_folder, tmp_path / "ray", *options, "--ray", "--workers", 2, "--retries", 9], tmp_path / "ray", kinds[:kills], 1
    )
    with alone():
        killer.run()
    expected, output = ((tmp_path / name / "distilled.tsv").read_text() for name in ("plain", "ray"))
    assert output == expected
    assert len(set(output.splitlines())) == output.count("\n")
    assert not (tmp_path / "ray" / "failed.jsonl").exists()
    for _ in range(kills):
        count("done")
