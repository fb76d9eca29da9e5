"""The use of the processors by this process and its children, and by other programs."""

import os
from pathlib import Path

from documentation.serving.processes import processor_seconds


class Processors:
    """Counts the time of the processors from now on."""

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
    fields = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()
    ticks = [int(field) for field in fields[1:9]]  # user, nice, system, idle, waiting for disks, interrupts (2), stolen
    idle, second = ticks[3] + ticks[4], os.sysconf("SC_CLK_TCK")
    children = Path("/proc/self/task", str(os.getpid()), "children").read_text(encoding="ascii").split()
    return (sum(ticks) - idle) / second, sum(ticks) / second, sum(processor_seconds(pid) for pid in [os.getpid(), *map(int, children)])
