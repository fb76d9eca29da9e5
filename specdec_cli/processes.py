"""Python modules as processes that answer questions: a question a line on stdin, its answer on stdout, both JSON.

A question is `[name, argument, ...]`. Its answer is `{"answer": value}`; what a generator yields comes before it, an
`{"item": value}` each. A failure that is the user's is answered by `{"error": [kind, message]}`; any other ends the
process with a traceback on stderr. The end of stdin ends it quietly.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from specdec_cli.errors import InputError, ModelError, SpecdecError, UsageError

_KINDS: dict[str, type[SpecdecError]] = {kind.__name__: kind for kind in (UsageError, InputError, ModelError)}
_PATIENCE = 10.0
_LAST_LINES = 5
# Threads of some OpenMP libraries wait for work by spinning, 0.2 s long, in which another process would be measured.
_ENVIRONMENT = {"KMP_BLOCKTIME": "20"}


class Process:
    """A Python module that answers questions (it calls `serve`), inside a `with` block; `label` names it in messages.

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

    def stream(self, name: str, *arguments: Any) -> Iterator[Any]:
        """Send a question whose answer comes in items. Raises as `ask` does."""
        self.send(name, *arguments)
        while "item" in (answer := self._answer()):
            yield answer["item"]

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
        return self._answer()["answer"]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise self._death()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            kind, message = answer["error"]
            raise _KINDS.get(kind, SpecdecError)(message)
        return answer

    def _death(self) -> ModelError:
        code = self._process.wait()
        cause = f"was killed by signal {-code} (out of memory?)" if code < 0 else f"ended with exit code {code}"
        self._errors.seek(0)
        words = self._errors.read().decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
        return ModelError("\n".join([f"{self._label}: its process {cause}", *(f"  {line}" for line in words)]))


def serve(handlers: Mapping[str, Callable[..., Any]]) -> None:
    """Be such a process: answer questions until there are no more, each by the one of `handlers` that it names."""
    # An interrupt reaches every process of a terminal; the parent decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    # What a library prints must not stand between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(BrokenPipeError):
        for line in sys.stdin:
            name, *arguments = json.loads(line)
            try:
                answer = handlers[name](*arguments)
                if isinstance(answer, Iterator):
                    for item in answer:
                        answers.write(json.dumps({"item": item}) + "\n")
                    answer = None
                message: dict[str, Any] = {"answer": answer}
            except SpecdecError as error:
                message = {"error": [type(error).__name__, str(error)]}
            answers.write(json.dumps(message) + "\n")
            answers.flush()
        return
    sys.exit(1)
