"""Description of the machine and software of a benchmark."""

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import sleep
from typing import Any

from specdec_cli import __version__
from specdec_cli.processors import usable_processors

_CPU_FILE = Path("/proc/cpuinfo")
_IDLE_SECONDS = 0.1  # idle OpenMP threads of this process stop spinning in this time
_TIMES_FILE = Path("/proc/stat")


def describe_environment() -> dict[str, Any]:
    """Processor, usable cores, operating system, versions of software, and the current time, by name, for JSON.

    The keys are "cpu", "cores", "system", "python", "specdec", "ctranslate2", "sacrebleu" and "date" (UTC, in ISO format).
    """
    return {
        "cpu": _cpu(),
        "cores": usable_processors(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "specdec": __version__,
        "ctranslate2": version("ctranslate2"),
        "sacrebleu": version("sacrebleu"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def cpu_share_of_others(seconds: float = 0.3) -> float | None:
    """The share of all processors (0 to 1) that other processes use while this one sleeps for `seconds`; None without /proc/stat."""
    sleep(_IDLE_SECONDS)
    before = processor_ticks()
    if before is None:
        return None
    sleep(seconds)
    after = processor_ticks() or before
    busy, total = (later - earlier for earlier, later in zip(before, after, strict=True))
    return busy / total if total else 0.0


def processor_ticks() -> tuple[int, int] | None:
    """Busy clock ticks and all clock ticks, summed over processors, since the system started; None without /proc/stat."""
    try:
        first = _TIMES_FILE.read_text(encoding="ascii").partition("\n")[0].split()
    except OSError:
        return None
    user, nice, system, idle, waiting, *others = map(int, first[1:9])
    busy = user + nice + system + sum(others)
    return busy, busy + idle + waiting


def _cpu() -> str:
    if _CPU_FILE.exists():
        for line in _CPU_FILE.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
