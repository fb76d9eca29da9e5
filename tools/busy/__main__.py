"""`python -m tools.busy`: measure the time of a line while other processes keep the processors busy.

The native engine translates the built-in sample line by line, with its default number of threads and with one thread. The busy
processes belong to the session of this program: with the scheduler's autogroups (sched(7)), priorities count only within a session.
A pass over the text during which programs other than these used the processors does not count.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.benchmark.examples import read_sample
from specdec_cli.benchmark.measure import Conditions, Pool
from specdec_cli.benchmark.rows import Row
from specdec_cli.files import write_json
from specdec_cli.opening.models import ModelChoice
from specdec_cli.processors import usable_processors
from tools.busy.processors import Processors

WORKER = "specdec_cli.commands.bench.worker"
_LINES = 80
_SETTLE = 0.2
"""Seconds between the start of busy processes and the measurement."""
_PASSES = 4
"""Passes over the text while the same processes run. The first is not counted: in it the engine tries which mode is faster."""
_LEAST = 5
"""Fewer passes than this are too few for a median."""
_OTHERS = 0.1
"""The largest share of the processors that other programs may use during a pass that counts."""


@dataclass(frozen=True)
class Load:
    """A number of busy processes, and how much nicer than the translator they are: 0 for the same priority, 19 for the lowest."""

    processes: int
    nice: int


Pass = tuple[float, float]
"""Seconds of a pass over the text with the default number of threads, and of the next one with one thread."""

LOADS = (Load(0, 0), Load(1, 0), Load(2, 0), Load(1, 19), Load(2, 19))


@contextmanager
def busy(load: Load) -> Iterator[list[int]]:
    """Run busy processes during the block, in the session of this process; yields their ids."""
    processes = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(load.processes)]
    try:
        for process in processes:
            os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + load.nice)
        time.sleep(_SETTLE)
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements with command-line `arguments` (default: those of the process) and print their results."""
    parser = argparse.ArgumentParser(prog="python -m tools.busy", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds of all measurements")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file too")
    asked = parser.parse_args(arguments)
    os.environ.pop("OMP_NUM_THREADS", None)
    measured = _measure(time.monotonic() + asked.seconds)
    least = min(map(len, measured.values()))
    if least < _LEAST:
        parser.exit(1, f"other programs used the processors: {least} passes were undisturbed in a case, {_LEAST} are needed\n")
    cases = [_case(load, passes) for load, passes in measured.items()]
    for case in cases:
        print(f"{case['processes']} busy, nice {case['nice']:2}: {case['default']:.2f} ms a line, one thread {case['one']:.2f} ms")
    if asked.json is not None:
        machine = {"device": "cpu", "precision": "int8", "model": "en-de", "repetitions": least}
        write_json(asked.json, {"environment": describe_environment() | machine | {"threads": usable_processors()}, "cases": cases})


def _case(load: Load, passes: Sequence[Pass]) -> dict[str, Any]:
    """The fields of a Load, and the median milliseconds of a line with the `default` number of threads, and with `one`."""
    default, one = (1000 * median(seconds) / _LINES for seconds in zip(*passes, strict=True))
    return asdict(load) | {"default": default, "one": one}


def _measure(until: float) -> dict[Load, list[Pass]]:
    """Measure one load after the other until the time `until`; return the passes of each that no other program disturbed."""
    sample = list(read_sample().sources)
    lines = (sample * -(-_LINES // len(sample)))[:_LINES]
    rows = Row("auto", threads=usable_processors()), Row("auto")
    conditions = Conditions(asdict(ModelChoice("en-de")), "cpu", "int8", split=True, limits={}, converted={}, engine="native")
    passes: dict[Load, list[Pass]] = {load: [] for load in LOADS}
    with Pool(WORKER, rows, {"": conditions}, shared=False) as pool:
        while time.monotonic() < until:
            for load in LOADS:
                with busy(load):
                    for number in range(_PASSES):
                        processors = Processors()
                        default, one = (float(pool.call("run", row, lines)["seconds"]) for row in rows)
                        if number and processors.share_of_others() <= _OTHERS:
                            passes[load].append((default, one))
    return passes


if __name__ == "__main__":
    main()
