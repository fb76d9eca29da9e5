"""`python -m tools.scale_measure`: measure what docs/scale.md shows, into docs/results/cluster/scale.json. Takes minutes.

Run it on a quiet machine: wall times are compared. One local cluster runs at a time.
"""

import argparse
import json
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.environment import cpu_share_of_others, describe_environment
from specdec_cli.benchmark.examples import SAMPLE
from specdec_cli.cluster.folder import ShardFolder
from specdec_cli.cluster.jobs import LineFunction, Output
from specdec_cli.cluster.pool import Pool, WorkerShape
from specdec_cli.cluster.run import Run
from specdec_cli.cluster.session import LOCAL, ray_session
from specdec_cli.cluster.shards import cut_shards
from specdec_cli.distillation.sources import distinct_lines
from specdec_cli.files import write_json
from specdec_cli.text.io.lines import Line, read_lines
from tools.scale_processes import Watched, watch
from tools.scale_tables import RESULT


@dataclass(frozen=True)
class SleepJob:
    """A Job that sleeps for `seconds` and returns its lines, a stand-in for a model."""

    seconds: float

    @contextmanager
    def open(self) -> Iterator[LineFunction]:
        """Nothing to load."""
        yield self._run

    def failed(self, line: Line) -> str:  # noqa: ARG002
        """No output."""
        return ""

    def _run(self, lines: Sequence[Line], _: int) -> Output:
        time.sleep(self.seconds)
        return Output(tuple(f"{line.text}\n" for line in lines), Counter())


def write_text(path: Path, lines: int) -> None:
    """Write distinct lines: each sentence of the built-in sample with a word of another."""
    sentences = [line.text.partition("\t")[0] for line in read_lines([SAMPLE])]
    words = sorted({word for sentence in sentences for word in sentence.split()})
    made = (f"{word} {sentence}\n" for word, sentence in product(words, sentences))
    path.write_text("".join(islice(made, lines)), encoding="utf-8")


def measure_distill(folder: Path, lines: int, shard_lines: int, turns: int) -> dict[str, Any]:
    """Runs of `distill` without Ray and with one and two workers, all of one thread; of `turns` interleaved runs the median."""
    write_text(folder / "text", lines)
    write_text(folder / "line", 1)
    found: dict[str, Any] = {"lines": lines, "shard_lines": shard_lines, "input_bytes": (folder / "text").stat().st_size}
    ways = {"plain": ["--threads", "1"], "one": ["--ray", "--workers", "1"], "two": ["--ray", "--workers", "2"]}
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    for turn, (name, options) in product(range(turns), ways.items()):
        output = folder / f"{name}{turn}"
        command = ["distill", "en-de", str(output), str(folder / "text"), "--beam-size", "1", "--quiet", *options]
        runs[name].append(_described(watch([*command, "--shard-lines", str(shard_lines)]), output, 2 if name == "two" else 1))
    for name, described in runs.items():
        found[name] = sorted(described, key=lambda run: run["lines_per_second"])[turns // 2]
        found[name]["all_lines_per_second"] = [run["lines_per_second"] for run in described]
    short = ["distill", "en-de", str(folder / "short"), str(folder / "line"), "--beam-size", "1", "--quiet", *ways["one"]]
    found["start"] = watch(short).seconds
    found["line_memory"] = line_memory()
    return found


def _described(run: Watched, folder: Path, workers: int) -> dict[str, Any]:
    """The times of a run, and its lines a second between the first shards and the last one, which leaves out start and loading."""
    shards = sorted((path.stat().st_mtime, json.loads(path.read_text())["sources"]) for path in folder.glob("shard-*.json"))
    seconds = shards[-1][0] - shards[workers - 1][0]
    rate = sum(lines for _, lines in shards[workers:]) / seconds
    size = sum(path.stat().st_size for path in folder.glob("shard-*.tsv"))
    return asdict(run) | {"lines_per_second": rate, "output_bytes": size, "others": cpu_share_of_others()}


def line_memory(lines: int = 200_000) -> float:
    """The memory, in bytes, that `distill` needs for each distinct line."""
    words = (f"a source line of usual length, with number {number}" for number in range(lines))
    before = _resident()
    held = distinct_lines(words, Counter())
    return (_resident() - before) / len(held)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def measure_sleepers(folder: Path, workers: int, rounds: int, seconds: float) -> dict[str, Any]:
    """A run with `workers` workers that sleep for `seconds` in each of `rounds` shards of 1,000 lines."""
    shard_lines = 1000
    text = [f"line {number} of a text of usual length, which is sixty characters" for number in range(shard_lines)]
    lines = (Line(number, text[number % shard_lines], "\n", "", Path("text")) for number in range(workers * rounds * shard_lines))
    times: list[float] = []
    with ray_session(LOCAL, workers) as (session, _):
        pool: Pool[Any] = Pool(SleepJob(seconds), WorkerShape(workers))
        pool.fill()
        while pool.ready < workers:
            list(pool.finished(1.0))
        store = ShardFolder(folder / "sleepers", {})
        run = Run(session, pool, store, 3, lambda _: times.append(time.monotonic()))
        started, used = time.monotonic(), time.process_time()
        run.process(cut_shards(lines, shard_lines))
        wall, cpu = time.monotonic() - started, time.process_time() - used
    ideal = rounds * seconds
    return {
        "workers": workers,
        "shards": workers * rounds,
        "seconds_a_shard": seconds,
        "wall": wall,
        "overhead": wall / ideal - 1,
        "command_cpu": cpu,
        "others": cpu_share_of_others(),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with command-line `arguments` (default: those of the process)."""
    parser = argparse.ArgumentParser(prog="python -m tools.scale_measure", description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000, help="lines for distill")
    parser.add_argument("--shard-lines", type=int, default=125, help="lines in a shard of distill")
    parser.add_argument("--turns", type=int, default=3, help="runs of each kind; the median is stored")
    parser.add_argument("--sleepers", type=int, default=64, help="workers that only sleep")
    parser.add_argument("--rounds", type=int, default=3, help="shards of each of them")
    parser.add_argument("--seconds", type=float, default=20.0, help="sleep for a shard")
    parser.add_argument("--output", type=Path, default=RESULT)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        folder = Path(name)
        found = {"environment": describe_environment(), "distill": measure_distill(folder, asked.lines, asked.shard_lines, asked.turns)}
        found["sleepers"] = measure_sleepers(folder, asked.sleepers, asked.rounds, asked.seconds)
    write_json(asked.output, found)


if __name__ == "__main__":
    main()
