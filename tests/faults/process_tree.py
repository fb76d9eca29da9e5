"""The processes that a program has started, and those that they have started, from /proc."""

import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def descendants(process: int) -> dict[int, str]:
    """The command lines of all processes below `process` that have not ended, by process number."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children[int(parent)].append(int(folder.name))
    found: dict[int, str] = {}
    waiting = list(children[process])
    while waiting:
        number = waiting.pop()
        with suppress(OSError):
            found[number] = Path(f"/proc/{number}/cmdline").read_text().replace("\0", " ").strip()
        waiting += children[number]
    return found


def kill(process: int) -> None:
    """Kill a process, unless it has ended."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def wait_for_end(processes: Iterable[int]) -> None:
    """Wait until all of these processes have ended. Raises AssertionError after two minutes."""
    left = set(processes)
    for _ in range(1200):
        left = {number for number in left if _runs(number)}
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(f"{len(left)} processes outlived the one that started them by two minutes")


def _runs(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
