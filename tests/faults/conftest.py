"""Fixtures of the tests of faults, and a table of their outcomes at the end of the run."""

import os
from collections import Counter
from collections.abc import Callable, Generator

import pytest

OUTCOMES = ("done", "refused", "wrong")
_seen: dict[str, Counter[str]] = {}


@pytest.fixture(scope="session")
def long() -> bool:
    """Whether the long form of the tests runs (`make faults`); the short form is part of `make test`."""
    return os.environ.get("SPECDEC_FAULTS") == "long"


@pytest.fixture
def count(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """A function that counts an outcome of the test: `done` or `refused`."""
    counts = _seen.setdefault(request.node.path.stem.removeprefix("test_"), Counter())

    def add(outcome: str) -> None:
        assert outcome in OUTCOMES
        counts[outcome] += 1

    return add


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Count a failed test as wrong."""
    report = yield
    if report.failed and item.path.parent.name == "faults":
        _seen.setdefault(item.path.stem.removeprefix("test_"), Counter())["wrong"] += 1
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print for each file the numbers of faults that were handled, refused with a message, and handled wrongly."""
    if not _seen:
        return
    terminalreporter.section("faults")
    terminalreporter.write_line(f"{'':20}" + "".join(f"{outcome:>10}" for outcome in OUTCOMES))
    for name, counts in sorted(_seen.items()):
        terminalreporter.write_line(f"{name:20}" + "".join(f"{counts[outcome]:>10}" for outcome in OUTCOMES))
