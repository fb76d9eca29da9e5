"""Runs of `specdec bench` in the process of a test, and a bundle that several tests measure."""

import importlib
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
import torch

from specdec_cli.commands.bench import bench
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from tests.command_line import Result, run_function

TSV = "ka lo mi\tta re\nno pe. Di fo su\tka\n\t\n"


def run(*arguments: object, text: str = TSV) -> Result:
    """Run the command with `arguments` on one thread of a CPU, once, on the lines of `text`."""
    common = ("--threads", "1", "--device", "cpu", "--max-length", "12", "--repetitions", "1")
    return run_function(bench, *common, *arguments, text=text)


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


@pytest.fixture
def real_processes() -> None:
    """For tests of the processes themselves: workers are processes, as for users."""


@pytest.fixture(autouse=True)
def in_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run workers in the process of the test, without pauses for other processes."""
    if "real_processes" not in request.fixturenames:
        for module in ("measure", "synthetic"):
            monkeypatch.setattr(f"specdec_cli.benchmark.{module}.Process", InProcess)
        for name in ("_IDLE_SECONDS", "_TURN_SECONDS"):
            monkeypatch.setattr(f"specdec_cli.benchmark.measure.{name}", 0.0)


@pytest.fixture(scope="module")
def folder(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with an untrained drafter."""
    torch.manual_seed(0)
    drafter = BlockDrafter(DrafterConfig(layers=1, feed_forward=64, max_block=4), bundle.verifier)
    save_bundle(replace(bundle, drafter=drafter), path := tmp_path_factory.mktemp("models") / "drafting")
    return path
