"""`python -m tools.cold`: measure the start of `specdec translate` and `specdec correct`, and their memory.

Each command decodes one line, and then many lines of the built-in sample, in a new process with default options. The packing of the
weights of its model is timed in this process, after a first time. Times are the least of several, because other programs can only
make them longer; the peak memory is the largest.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.benchmark.examples import read_sample
from specdec_cli.files import write_json
from specdec_cli.model.bundle_description import describe_bundle
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.models import SHIPPED
from specdec_cli.processors import usable_processors

COMMANDS = {"translate": "en-de", "correct": "en-gec"}
"""The commands that are measured, and the shipped bundle that each uses by default."""
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


@dataclass(frozen=True)
class Run:
    """Seconds of wall time and of processor time of a process, and its peak memory in bytes."""

    wall: float
    processor: float
    memory: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements with command-line `arguments` (default: those of the process) and print their results."""
    parser = argparse.ArgumentParser(prog="python -m tools.cold", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10, help="processes for each command that decodes one line")
    parser.add_argument("--lines", type=int, default=1000, help="lines of the long run of each command")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file too")
    asked = parser.parse_args(arguments)
    os.environ.pop("OMP_NUM_THREADS", None)
    found = [_measure(command, asked.repetitions, asked.lines) for command in COMMANDS]
    for each in found:
        print(
            f"{each['command']}: {1000 * each['wall']:.0f} ms, {1000 * each['processor']:.0f} ms of the processors, "
            f"{1000 * each['packing']:.0f} of them for packing; {each['memory'] / 1e6:.0f} MB, "
            f"{each['memory_of_many'] / 1e6:.0f} MB for {each['lines']} lines"
        )
    if asked.json is not None:
        machine = {"device": "cpu", "precision": "int8", "threads": usable_processors()}
        write_json(asked.json, {"environment": describe_environment() | machine, "processes": asked.repetitions, "commands": found})


def _measure(command: str, repetitions: int, lines: int) -> dict[str, Any]:
    sample = list(read_sample().sources)
    many = (sample * -(-lines // len(sample)))[:lines]
    runs = [run_command(command, sample[:1]) for _ in range(repetitions)]
    long = run_command(command, many)
    stored = sum(path.stat().st_size for path in (SHIPPED / COMMANDS[command]).glob("*/model.safetensors"))
    return {
        "command": command,
        "model": COMMANDS[command],
        "wall": min(run.wall for run in runs),
        "processor": min(run.processor for run in runs),
        "memory": max(run.memory for run in runs),
        "lines": lines,
        "memory_of_many": long.memory,
        "packing": min(packing_seconds(COMMANDS[command]) for _ in range(repetitions + 1)),
        "stored": stored,
    }


def run_command(command: str, lines: Sequence[str]) -> Run:
    """Decode lines with a command of specdec in a new process. Raises CalledProcessError if it fails."""
    words = [sys.executable, "-m", "specdec_cli", command, "--quiet"]
    with tempfile.TemporaryFile() as text:
        text.write("".join(f"{line}\n" for line in lines).encode())
        text.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(words, stdin=text, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _UNIT)


def packing_seconds(name: str) -> float:
    """The processor time of loading the verifier of a shipped bundle: to read, check, quantize and pack its weights."""
    bundle = describe_bundle(SHIPPED / name)
    started = time.process_time()
    NativeModel(bundle.shape, SHIPPED / name / "verifier" / "model.safetensors")
    return time.process_time() - started


if __name__ == "__main__":
    main()
