"""The near side of a process that measures one row."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import Any, Self

from specdec_cli.errors import InputError, ModelError, SpecdecError, UsageError

_KINDS: dict[str, type[SpecdecError]] = {kind.__name__: kind for kind in (UsageError, InputError, ModelError)}
_PATIENCE = 10.0
_LAST_LINES = 5
# Threads of some OpenMP libraries wait for work by spinning, 0.2 s long, in which another process would be measured.
_ENVIRONMENT = {"KMP_BLOCKTIME": "20"}


class Process:
    """A Python module that answers questions (`worker.serve`), inside a `with` block; `label` names it in messages.

    A process that dies raises ModelError with the last lines of its stderr; an error that it reports is raised here.
    """

    def __init__(self, module: str, label: str) -> None:
        self._module, self._label = module, label

    def __enter__(self) -> Self:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            # -P: a file of the working folder that is named like a module must not be run.
            [sys.executable, "-P", "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="ascii",
            env=_ENVIRONMENT | os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        if kind is not None:
            self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def ask(self, name: str, *arguments: Any) -> Any:
        """Send a question and wait for its answer. Raises what the process reports, ModelError if it dies."""
        self.send(name, *arguments)
        return self.receive()

    def send(self, name: str, *arguments: Any) -> None:
        """Send a question, whose answer `receive` waits for."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps([name, *arguments]) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._death() from error

    def receive(self) -> Any:
        """The answer to the oldest question without one."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise self._death()
        answer = json.loads(line)
        if "error" in answer:
            kind, message = answer["error"]
            raise _KINDS.get(kind, SpecdecError)(message)
        return answer["answer"]

    def _death(self) -> ModelError:
        code = self._process.wait()
        cause = f"was killed by signal {-code} (out of memory?)" if code < 0 else f"ended with exit code {code}"
        self._errors.seek(0)
        words = self._errors.read().decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
        return ModelError("\n".join([f"{self._label}: its process {cause}", *(f"  {line}" for line in words)]))
