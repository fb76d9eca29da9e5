"""Runs of commands with --ray in the tests: one local cluster at a time on a machine."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = Path(tempfile.gettempdir()) / "specdec-tests-ray.lock"


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other test on this machine runs a cluster, and keep others from it in the `with` block."""
    with _LOCK.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def start(*arguments: object) -> "subprocess.Popen[str]":
    """Start specdec in a process group of its own."""
    command = [sys.executable, "-m", "specdec_cli", *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True, env=environment)


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run specdec in a process of its own, and wait for it."""
    with start(*arguments) as process:
        output, errors = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)
