"""Ray actors that hold a model each: started, watched, and replaced when they die."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from specdec_cli.cluster.jobs import Failure, Job, Output
from specdec_cli.errors import ModelError, SpecdecError, is_out_of_memory
from specdec_cli.processors import keep_order_of_sums
from specdec_cli.text.io.lines import Line


class Backoff:
    """A pause of `shortest` seconds after a failure; if the next try fails too, of twice as many, up to `longest`.

    Failures during a pause belong to the try before it. `clock` returns the time in seconds.
    """

    def __init__(self, shortest: float, longest: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._shortest, self._longest, self._clock = shortest, longest, clock
        self._seconds, self._end = shortest, clock()

    @property
    def waiting(self) -> bool:
        """Whether a pause is under way."""
        return self._clock() < self._end

    def fail(self) -> None:
        """Begin a pause, unless one is under way."""
        if not self.waiting:
            self._end = self._clock() + self._seconds
            self._seconds = min(2 * self._seconds, self._longest)

    def succeed(self) -> None:
        """Make the next pause a short one."""
        self._seconds = self._shortest


T = TypeVar("T")
_SHORTEST_PAUSE, _LONGEST_PAUSE = 5.0, 60.0
"""Seconds until workers are started again after one could not load its model."""


@dataclass(frozen=True)
class WorkerShape:
    """The number of workers, and the processors and GPUs that each of them reserves."""

    count: int
    cpus: int = 1
    gpus: int = 0


class Worker:
    """The process of a worker: loads the model of a job once, then processes lines. Errors are returned, not raised."""

    def __init__(self, job: Job) -> None:
        keep_order_of_sums()
        self._job, self._stack = job, ExitStack()

    def load(self) -> Failure | None:
        """Load the model; None if that succeeded."""
        try:
            self._function = self._stack.enter_context(self._job.open())
        except Exception as error:
            return _failure(error)
        return None

    def run(self, lines: Sequence[Line], first: int) -> Output | Failure:
        """Process consecutive lines; `first` is the number of the first one in the whole input."""
        try:
            return self._function(lines, first)
        except Exception as error:
            return _failure(error)


def _failure(error: Exception) -> Failure:
    if isinstance(error, SpecdecError):
        # A ModelError says that the model's own process has died, or that it is damaged.
        return Failure(str(error), type(error), broken=isinstance(error, ModelError))
    return Failure("out of memory" if is_out_of_memory(error) else f"{type(error).__name__}: {error}")


@dataclass
class Pool(Generic[T]):
    """Workers for `job`, each of which does one task at a time; `T` is the caller's key of a task.

    Workers load their models at the same time, and get tasks once they have. A dead worker is replaced. After one could not load
    its model, none is started for a while. Ray starts workers where the cluster has room, so there may be fewer than `shape.count` for
    a while.
    """

    job: Job
    shape: WorkerShape
    _loading: dict[Any, Any] = field(default_factory=dict)
    _idle: deque[Any] = field(default_factory=deque)
    _doing: dict[Any, tuple[Any, T]] = field(default_factory=dict)
    _backoff: Backoff = field(default_factory=lambda: Backoff(_SHORTEST_PAUSE, _LONGEST_PAUSE))

    def fill(self) -> None:
        """Start as many workers as are missing, unless a worker has just failed to load its model."""
        import ray

        if self._backoff.waiting:
            return
        options = {"num_cpus": self.shape.cpus, "num_gpus": self.shape.gpus, "max_restarts": 0}
        for _ in range(self.shape.count - self.ready - len(self._loading)):
            worker: Any = ray.remote(Worker).options(**options).remote(self.job)
            self._loading[worker.load.remote()] = worker

    @property
    def ready(self) -> int:
        """The number of workers that have loaded their models."""
        return len(self._idle) + len(self._doing)

    @property
    def idle(self) -> int:
        """The number of workers without a task."""
        return len(self._idle)

    @property
    def busy(self) -> int:
        """The number of tasks that are under way."""
        return len(self._doing)

    def submit(self, key: T, lines: Sequence[Line], first: int) -> None:
        """Give an idle worker a task."""
        worker = self._idle.popleft()
        self._doing[worker.run.remote(lines, first)] = worker, key

    def finished(self, seconds: float) -> Iterator[tuple[T | None, Output | Failure]]:
        """Wait up to `seconds` for a task to end, and yield the keys and results of all that have ended.

        A worker that could not load its model, or died while it did, is yielded as a failure with the key None.
        """
        import ray

        waiting = [*self._loading, *self._doing]
        if not waiting:
            time.sleep(seconds)
            return
        done, _ = ray.wait(waiting, num_returns=1, timeout=seconds)
        if done:
            done, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
        for reference in done:
            if reference in self._loading:
                failure = self._loaded(reference, self._loading.pop(reference))
                if failure is not None:
                    yield None, failure
            else:
                worker, key = self._doing.pop(reference)
                yield key, self._result(reference, worker)

    def abandon(self) -> list[T]:
        """Forget all workers, which have died with their cluster; return the keys of their tasks."""
        keys = [key for _, key in self._doing.values()]
        self._loading.clear()
        self._idle.clear()
        self._doing.clear()
        return keys

    def _loaded(self, reference: Any, worker: Any) -> Failure | None:
        from ray import get
        from ray.exceptions import RayError

        try:
            failure: Failure | None = get(reference)
        except RayError:
            failure = Failure("a worker died while it loaded the model (out of memory?)")
        if failure is None:
            self._idle.append(worker)
            self._backoff.succeed()
        else:
            self._backoff.fail()
        return failure

    def _result(self, reference: Any, worker: Any) -> Output | Failure:
        from ray import get
        from ray.exceptions import RayError

        try:
            result: Output | Failure = get(reference)
        except RayError:
            return Failure("the worker died")
        if not (isinstance(result, Failure) and result.broken):
            self._idle.append(worker)
        return result
