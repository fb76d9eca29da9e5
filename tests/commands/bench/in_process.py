"""Workers of `specdec bench` in the process of the test, which need no start and no import of torch."""

import importlib
import json
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

WORKERS = {"specdec_cli.commands.bench.worker": "Worker", "specdec_cli.commands.bench.synthetic_worker": "SyntheticWorker"}


class InProcess:
    """Has the methods of `processes.Process`, and calls the handlers of the worker's module. Requests and responses pass through JSON."""

    def __init__(self, module: str, label: str) -> None:
        self.label = label
        imported = importlib.import_module(module)
        self._worker = getattr(imported, WORKERS[module])()
        self._handlers: dict[str, Callable[..., Any]] = {"inspect": imported.inspect} | self._worker.handlers()
        self._responses: Iterator[Any] = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if folder := vars(self._worker).get("_folder"):
            folder.cleanup()  # which the end of a process would delete

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a handler."""
        self.send(name, *arguments)
        return self.receive()

    def send(self, name: str, *arguments: Any) -> None:
        """Keep a request until its response is asked for."""
        request = json.loads(json.dumps(arguments))
        self._responses = (_as_json(self._handlers[name](*request)) for _ in range(1))

    def receive(self) -> Any:
        """The response to the last request."""
        return next(self._responses)


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))
