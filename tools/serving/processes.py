"""Servers as processes of their own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_START = 60.0


@contextmanager
def running(module: Sequence[str], path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a Python module with arguments inside the block; it must listen on the Unix socket `path` within a minute.

    Its stderr is discarded, or goes to the file that the environment variable SERVER_LOG names.
    """
    with open(os.environ.get("SERVER_LOG", os.devnull), "wb") as log:  # noqa: PTH123
        process = subprocess.Popen([sys.executable, "-m", *module], stderr=log)
    try:
        started = time.monotonic()
        while not path.exists():
            if process.poll() is not None or time.monotonic() - started > _START:
                raise RuntimeError(f"{module[0]} did not start")
            time.sleep(0.1)
        time.sleep(1.0)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def processor_seconds(pid: int) -> float:
    """The processor time of a process, in seconds."""
    fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
