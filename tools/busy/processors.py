"""The use of the processors by this process and its children, and by other programs."""

import os
from pathlib import Path

from specdec_cli.benchmark.environment import processor_ticks
from tools.serving.processes import processor_seconds


class Processors:
    """Measures the use of the processors since this object was made."""

    def __init__(self) -> None:
        self._busy, self._total, self._own = _seconds()

    def share_of_others(self) -> float:
        """The share of all processors (0 to 1) that programs other than this process and its children have used so far.

        No child may have started or ended since this object was made.
        """
        busy, total, own = _seconds()
        return max(busy - self._busy - (own - self._own), 0.0) / max(total - self._total, 0.01)


def _seconds() -> tuple[float, float, float]:
    """Seconds since the system started, summed over processors: busy, all, and those of this process and its children."""
    busy, total = processor_ticks() or (0, 0)
    second = os.sysconf("SC_CLK_TCK")
    children = Path("/proc/self/task", str(os.getpid()), "children").read_text(encoding="ascii").split()
    return busy / second, total / second, sum(processor_seconds(pid) for pid in [os.getpid(), *map(int, children)])
