"""Rows in processes of their own, decoding the same lines in turn."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import sleep
from types import TracebackType
from typing import Any, Self

from specdec_cli.benchmark.records import Measured, Run
from specdec_cli.benchmark.rows import Row
from specdec_cli.processes import Process

_WARM_UP = 8
# Until the OpenMP threads of the process that has just run are asleep; idle ones were seen to use no CPU time after it.
_REST = 0.05


@dataclass(frozen=True)
class Conditions:
    """What all rows have in common: the bundle as `open-bundle` is told of it, where and how it computes, and whether lines
    are split into sentences.

    `limits` are the most tokens of an output by padded source length; `converted` the CTranslate2 folders by number format.
    """

    model: Mapping[str, Any]
    device: str
    precision: str
    split: bool
    limits: Mapping[int, int]
    converted: Mapping[str, Path]


class Pool:
    """The processes that run rows, inside a `with` block: one for each row, or, if `shared`, as few as possible.

    A shared process runs rows of one engine and number of threads; then memory cannot be told apart by row.
    `module` serves the questions open-bundle, open-ctranslate2, prepare, run and profile.
    """

    def __init__(self, module: str, rows: Sequence[Row], conditions: Conditions, shared: bool) -> None:
        self.shared = shared
        self._module, self._conditions = module, conditions
        self._stack = ExitStack()
        self._processes: dict[Hashable, Process] = {}
        self._served: dict[Hashable, list[Row]] = {}
        for row in rows:
            self._served.setdefault(self._key(row), []).append(row)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for key, rows in self._served.items():
                label = "row " + ", ".join(dict.fromkeys(row.name for row in rows))
                self._processes[key] = stack.enter_context(Process(self._module, label))
                self._processes[key].send(*_opening(rows[0], self._conditions))
            # All are asked before one is heard: they load at the same time.
            for process in self._processes.values():
                process.receive()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def ask(self, question: str, row: Row, *arguments: Any) -> Any:
        """The answer of the row's process. Raises what it reports, and ModelError naming the row if it dies."""
        return self._processes[self._key(row)].ask(question, asdict(row), *arguments)

    def _key(self, row: Row) -> Hashable:
        return (row.compute_type, row.threads, row.workers, row.each) if self.shared else row


def measure(pool: Pool, rows: Sequence[Row], lines: Sequence[str], repetitions: int, report: Callable[[], None]) -> list[Measured]:
    """Decode `lines` by every row in turn, `repetitions` times after a warm-up; `report` is called after each run."""
    settings = [pool.ask("prepare", row) for row in rows]
    for row in rows:
        pool.ask("run", row, lines[: max(_WARM_UP, row.batch_size)])
    runs: list[list[Run]] = [[] for _ in rows]
    for _ in range(repetitions):
        for row, of_row in zip(rows, runs, strict=True):
            sleep(_REST)
            run = Run.from_dict(pool.ask("run", row, lines))
            of_row.append(replace(run, peak_memory_mb=None) if pool.shared else run)
            report()
    return [Measured(row, chosen, tuple(of_row)) for row, chosen, of_row in zip(rows, settings, runs, strict=True)]


def _opening(row: Row, conditions: Conditions) -> tuple[Any, ...]:
    """The question that makes a new process ready for `row`."""
    if row.compute_type is None:
        return "open-bundle", conditions.model, conditions.device, conditions.precision, row.threads, conditions.split
    folder = str(conditions.converted[row.compute_type])
    limits = list(conditions.limits.items())
    return "open-ctranslate2", folder, row.compute_type, conditions.device, row.workers, row.each or row.threads, limits, conditions.split
