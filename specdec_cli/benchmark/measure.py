"""Measurement of rows: each row runs in a process of its own, and the rows take turns in decoding the same lines."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import sleep
from types import TracebackType
from typing import Any, Self

from specdec_cli.benchmark.records import RowRuns, Run
from specdec_cli.benchmark.rows import Row
from specdec_cli.processes import Process

_WARM_UP = 8
# Idle OpenMP threads of the process that ran last stop spinning in this time.
_IDLE_SECONDS = 0.05


@dataclass(frozen=True)
class Conditions:
    """Conditions that all rows of a bundle share.

    `model` has the fields of the bundle's ModelChoice, by name; `device` and `precision` are resolved (not `auto`), `engine` is
    auto, native or reference. With `split`, lines are split into sentences. `limits` maps padded source lengths to the largest
    output lengths (tokens); `converted` maps number formats to folders with the bundle as a CTranslate2 model.
    """

    model: Mapping[str, Any]
    device: str
    precision: str
    split: bool
    limits: Mapping[int, int]
    converted: Mapping[str, Path]
    engine: str = "reference"


class Pool:
    """The processes that run rows; they start and load models on entering the `with` block, and end on leaving it.

    Each row has its own process; with `shared`, all rows of one bundle, engine and number of threads have a common one, so that the
    memory of a row is unknown. `conditions` are those of each bundle, by the `model` of its rows. `module` is the Python module of
    the processes; it serves the requests open-bundle, open-ctranslate2, prepare, run, profile
    and count.
    """

    def __init__(self, module: str, rows: Sequence[Row], conditions: Mapping[str, Conditions], shared: bool) -> None:
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
                label = "row " + ", ".join(dict.fromkeys(row.label for row in rows))
                self._processes[key] = stack.enter_context(Process(self._module, label))
                self._processes[key].send(*_opening(rows[0], self._conditions[rows[0].model]))
            # All requests are sent before a response is awaited, so that the processes load models at the same time.
            for process in self._processes.values():
                process.receive()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def call(self, request: str, row: Row, *arguments: Any) -> Any:
        """Send `request` with `row` and `arguments` to the process of `row`, and return its response.

        Raises the errors that the process reports, and ModelError, naming the row, if the process has ended.
        """
        return self._processes[self._key(row)].call(request, asdict(row), *arguments)

    def _key(self, row: Row) -> Hashable:
        return (row.model, row.compute_type, row.threads, row.workers, row.worker_threads) if self.shared else row


def measure(pool: Pool, rows: Sequence[Row], lines: Sequence[str], repetitions: int, report: Callable[[], None]) -> list[RowRuns]:
    """Decode `lines` with every row in turn, `repetitions` times after a warm-up; return the runs of each row, in the order of `rows`.

    In each repetition every row decodes all lines once. `report` is called after each run but those of the warm-up.
    """
    settings = [pool.call("prepare", row) for row in rows]
    for row in rows:
        pool.call("run", row, lines[: max(_WARM_UP, row.options.batch_size)])
    runs: list[list[Run]] = [[] for _ in rows]
    for _ in range(repetitions):
        for row, of_row in zip(rows, runs, strict=True):
            sleep(_IDLE_SECONDS)
            run = Run.from_dict(pool.call("run", row, lines))
            of_row.append(replace(run, peak_memory_mb=None) if pool.shared else run)
            report()
    return [RowRuns(row, _used(described, of_row), tuple(of_row)) for row, described, of_row in zip(rows, settings, runs, strict=True)]


def _used(described: dict[str, Any], runs: Sequence[Run]) -> dict[str, Any]:
    """The settings of a row after its runs: a row "auto" of which no run drafted was decoded greedily."""
    if "chosen" not in described or any(run.drafted != 0 for run in runs):
        return described
    return {name: value for name, value in described.items() if name != "block_size"} | {"chosen": "greedy"}


def _opening(row: Row, conditions: Conditions) -> tuple[Any, ...]:
    """The request by which a new process loads the model of `row`."""
    if row.compute_type is None:
        machine = (conditions.device, conditions.precision, row.threads)
        return "open-bundle", conditions.model, *machine, conditions.split, conditions.engine, asdict(row)
    folder = str(conditions.converted[row.compute_type])
    limits = list(conditions.limits.items())
    return (
        "open-ctranslate2",
        folder,
        row.compute_type,
        conditions.device,
        row.workers,
        row.worker_threads or row.threads,
        limits,
        conditions.split,
    )
