"""A bash in which the commands of the pages run, with a `specdec` that starts fast (see fork_server.py)."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tools.pages import ROOT

_START = 120.0


@dataclass(frozen=True)
class Done:
    """The result of a command: its exit code, and its stdout and stderr together, in the order in which they were written."""

    output: str
    code: int


class Shell:
    """Runs shell commands inside a `with` block. Entering it raises RuntimeError if the fork server does not start."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="specdec-")
        programs = Path(self._folder.name)
        address = str(programs / "socket")
        # Models that commands convert do not go into the user's cache.
        environment = os.environ | {"PYTHONPATH": str(ROOT), "SPECDEC_CACHE": str(programs / "cache")}
        command = [sys.executable, "-m", "tools.fork_server", address, str(programs)]
        self._server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
        started = time.monotonic()
        while not (programs / "python").exists():
            if self._server.poll() is not None or time.monotonic() - started > _START:
                self.__exit__(None, None, None)
                raise RuntimeError("the server of specdec did not start")
            time.sleep(0.05)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        terminal = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONUTF8": "1"}
        self._environment = environment | {"PATH": path, "CUDA_VISIBLE_DEVICES": ""} | terminal
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.terminate()
        self._server.wait()
        self._folder.cleanup()

    def run(self, command: str, folder: Path, longest: float = 300.0, **variables: str) -> Done:
        """Run `command` in bash in `folder`, with further variables of the environment, and return its result.

        Raises subprocess.TimeoutExpired after `longest` seconds.
        """
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder,
            env=self._environment | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=longest,
            check=False,
        )
        return Done(done.stdout.decode("utf-8"), done.returncode)
