"""Requests to other processes, their responses, and processes that die."""

from pathlib import Path

import pytest

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.processes import Process

MODULE = """
import os, sys
from specdec_cli.errors import UsageError
from specdec_cli.processes import serve

def refuse():
    raise UsageError("not this")

def die(code):
    print("first", "last words", sep="\\n", file=sys.stderr, flush=True)
    os._exit(code)

def noise(text):
    print("a library says hello")
    return text.upper()

def count(end):
    yield from range(3)
    if end == "badly":
        raise UsageError("no further")

if __name__ == "__main__":
    serve({"noise": noise, "refuse": refuse, "die": die, "count": count})
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that serves requests."""
    (tmp_path / "some_server.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return "some_server"


def test_results_and_errors_are_returned(module: str) -> None:
    with Process(module, "--row x") as process:
        assert process.call("noise", "ä\n") == "Ä\n"
        with pytest.raises(UsageError, match=r"^not this$"):
            process.call("refuse")
        assert process.call("noise", "b") == "B"


def test_a_dead_process_is_reported_with_its_stderr(module: str) -> None:
    with Process(module, "--row x") as process, pytest.raises(ModelError) as caught:
        process.call("die", 7)
    assert str(caught.value) == "--row x: its process ended with exit code 7\n  first\n  last words"
    with Process(module, "--row x") as process, pytest.raises(ModelError, match="KeyError: 'nix'"):
        process.call("nix")


def test_a_killed_process_is_reported(module: str) -> None:
    with Process(module, "--row x") as process, pytest.raises(ModelError, match="killed by signal 9"):
        process.call("noise", "a")
        process._process.kill()
        process.call("noise", "a")


def test_items_are_streamed_before_the_end_of_a_call(module: str) -> None:
    with Process(module, "--row x") as process:
        assert list(process.stream("count", "well")) == [0, 1, 2]
        seen: list[int] = []
        with pytest.raises(UsageError, match=r"^no further$"):
            seen.extend(process.stream("count", "badly"))
        assert process.call("noise", "b") == "B"
