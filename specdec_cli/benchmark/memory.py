"""The peak memory of this process."""

import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_resident_mb() -> float | None:
    """The largest resident memory of this process so far, in MB (2**20 bytes); None on systems without it, such as Windows."""
    # /proc is preferred to getrusage, because on Linux a new process inherits the value of getrusage from its parent.
    if _STATUS.exists():
        for line in _STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
