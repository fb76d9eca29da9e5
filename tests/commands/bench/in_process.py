"""Workers of `specdec bench` in the process of the test, which need no start and no import of torch."""

import importlib
import pickle
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self


class InProcess:
    """Has the methods of `processes.Process`, and calls the handlers of the worker's module. Requests and responses are pickled."""

    def __init__(self, module: str, label: str) -> None:
        self.label = label
        self._handlers: dict[str, Callable[..., Any]] = importlib.import_module(module).Worker().handlers()
        self._responses: Iterator[Any] = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a handler."""
        self.send(name, *arguments)
        return self.receive()

    def send(self, name: str, *arguments: Any) -> None:
        """Keep a request until its response is asked for."""
        request = _copied(arguments)
        self._responses = (_copied(self._handlers[name](*request)) for _ in range(1))

    def receive(self) -> Any:
        """The response to the last request."""
        return next(self._responses)


def _copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
