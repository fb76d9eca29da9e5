"""Runs of specdec whose processes are watched: their wall time, and the processor time of the process and of all processes below it."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY = 0.25


@dataclass(frozen=True)
class Watched:
    """A run: `seconds` of wall time, and by role the seconds of processor time (`cpu`) and the most resident memory, in bytes.

    The roles are "command", "workers" and "ray" (its own processes).
    """

    seconds: float
    cpu: dict[str, float]
    memory: dict[str, int]


def watch(arguments: Sequence[str]) -> Watched:
    """Run specdec with these arguments to its end. Raises subprocess.CalledProcessError if it fails."""
    started = time.monotonic()
    used: dict[int, tuple[str, float]] = {}
    memory: Counter[str] = Counter()
    command = [sys.executable, "-m", "specdec_cli", *arguments]
    with subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            found = _processes(process.pid)
            for number, (role, seconds, _) in found.items():
                # A worker has another name before its work begins, and none when it has ended.
                used[number] = ("workers" if used.get(number, ("", 0))[0] == "workers" else role, seconds)
            now: Counter[str] = Counter()
            for role, _, size in found.values():
                now[role] += size
            memory |= now
            time.sleep(_EVERY)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    cpu = dict.fromkeys(("command", "workers", "ray"), 0.0)
    for role, seconds in used.values():
        cpu[role] += seconds
    return Watched(time.monotonic() - started, cpu, dict(memory))


def _processes(root: int) -> dict[int, tuple[str, float, int]]:
    """Role, processor time so far, and resident memory of a process and all processes below it, by number."""
    parents: dict[int, int] = {}
    used: dict[int, tuple[float, int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(words[1])
            used[int(folder.name)] = (int(words[11]) + int(words[12])) / _TICKS, int(words[21]) * _PAGE
    below = {root}
    while more := {number for number, parent in parents.items() if parent in below and number not in below}:
        below |= more
    return {number: (_role(number, root), *used[number]) for number in below if number in used}


def _role(number: int, root: int) -> str:
    if number == root:
        return "command"
    with suppress(OSError):
        line = Path(f"/proc/{number}/cmdline").read_text()
        return "workers" if "ray::Worker" in line or "distillation.worker" in line else "ray"
    return "ray"
