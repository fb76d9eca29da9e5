"""On what the numbers were measured."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from specdec_cli import __version__

_CPU_FILE = Path("/proc/cpuinfo")


def describe_environment() -> dict[str, Any]:
    """Processor, cores that this process may use, system, versions, and the time."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "specdec": __version__,
        "ctranslate2": version("ctranslate2"),
        "sacrebleu": version("sacrebleu"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _cpu() -> str:
    if _CPU_FILE.exists():
        for line in _CPU_FILE.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
