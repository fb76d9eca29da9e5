"""Calls of functions in subprocesses that run a Python module; requests and responses are pickles on stdin and stdout.

A request is `(name, argument, ...)`. Its response is `("result", value)`; each item that a generator yields is sent before
it as `("item", value)`. A SpecdecError is sent as `("error", (class name, message))`; any other exception ends the process
with a traceback on stderr. The process ends when its stdin is closed.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from specdec_cli.errors import InputError, ModelError, SpecdecError, UsageError
from specdec_cli.processors import MKL_MODE, MKL_VARIABLE

_ERRORS: dict[str, type[SpecdecError]] = {kind.__name__: kind for kind in (UsageError, InputError, ModelError)}
_EXIT_TIMEOUT = 10.0
_STDERR_LINES = 5
# Idle threads of some OpenMP libraries spin for 0.2 s by default, which would disturb measurements of other processes.
_ENVIRONMENT = {"KMP_BLOCKTIME": "20", MKL_VARIABLE: MKL_MODE}


class Process:
    """Runs a Python module that calls `serve` in a subprocess, inside a `with` block; `label` names it in messages.

    Calls raise ModelError, with the last lines of the process's stderr, if the process dies, and the SpecdecError
    that the process reports.
    """

    def __init__(self, module: str, label: str) -> None:
        self._module, self._label = module, label

    def __enter__(self) -> Self:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            # -P: do not import modules from the working folder.
            [sys.executable, "-P", "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
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
            self._process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def call(self, name: str, *arguments: Any) -> Any:
        """Call the function `name` in the process and return its result.

        Raises the SpecdecError that the function raised in the process, and ModelError if the process dies.
        """
        self.send(name, *arguments)
        return self.receive()

    def stream(self, name: str, *arguments: Any) -> Iterator[Any]:
        """Call the generator function `name` in the process and yield its items. Raises the same errors as `call`."""
        self.send(name, *arguments)
        while (response := self._response())[0] == "item":
            yield response[1]

    def send(self, name: str, *arguments: Any) -> None:
        """Send a request and do not wait; `receive` returns its result. Raises ModelError if the process has died."""
        assert self._process.stdin is not None
        try:
            pickle.dump((name, *arguments), self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._process_error() from error

    def receive(self) -> Any:
        """Wait for the result of the oldest request that has not been answered, and return it. Raises the same
        errors as `call`.
        """
        return self._response()[1]

    def _response(self) -> tuple[str, Any]:
        assert self._process.stdout is not None
        try:
            kind, value = pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError) as error:
            raise self._process_error() from error
        if kind == "error":
            name, message = value
            raise _ERRORS.get(name, SpecdecError)(message)
        return kind, value

    def _process_error(self) -> ModelError:
        code = self._process.wait()
        cause = f"was killed by signal {-code} (out of memory?)" if code < 0 else f"ended with exit code {code}"
        self._errors.seek(0)
        words = self._errors.read().decode("utf-8", "replace").strip().splitlines()[-_STDERR_LINES:]
        return ModelError("\n".join([f"{self._label}: its process {cause}", *(f"  {line}" for line in words)]))


def serve(handlers: Mapping[str, Callable[..., Any]]) -> None:
    """Answer requests from stdin by calling the functions `handlers`, by name, until stdin is closed."""
    # A terminal sends SIGINT to all its processes; the parent process handles it and closes stdin.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output of libraries is redirected to stderr, so that it does not mix with responses.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(BrokenPipeError):
        while True:
            try:
                name, *arguments = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            try:
                result = handlers[name](*arguments)
                if isinstance(result, Iterator):
                    for item in result:
                        pickle.dump(("item", item), output)
                    result = None
                response: tuple[str, Any] = ("result", result)
            except SpecdecError as error:
                response = ("error", (_kind(error), str(error)))
            pickle.dump(response, output)
            output.flush()
    sys.exit(1)


def _kind(error: SpecdecError) -> str:
    """The name of the class in _ERRORS that `error` is of, or that it is derived from; "SpecdecError" for none of them."""
    return next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS), SpecdecError.__name__)
