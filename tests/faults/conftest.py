"""What the tests of faults share: how long they are, and a table of what they saw at the end of the run."""

import os
from collections import Counter
from collections.abc import Callable, Generator

import pytest

OUTCOMES = ("done", "refused", "wrong")
_seen: dict[str, Counter[str]] = {}


@pytest.fixture(scope="session")
def long() -> bool:
    """Whether the long form runs (`make faults`); the short one is part of `make test`."""
    return os.environ.get("SPECDEC_FAULTS") == "long"


@pytest.fixture
def count(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Counts an outcome of the test: `done` or `refused`."""
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
    """Print the table: for each file, how many faults were survived (done), refused in a sentence, or handled wrongly."""
    if not _seen:
        return
    terminalreporter.section("faults")
    terminalreporter.write_line(f"{'':20}" + "".join(f"{outcome:>10}" for outcome in OUTCOMES))
    for name, counts in sorted(_seen.items()):
        terminalreporter.write_line(f"{name:20}" + "".join(f"{counts[outcome]:>10}" for outcome in OUTCOMES))
