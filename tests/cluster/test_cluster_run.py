"""A run over shards, with workers that fail on request; no cluster is started."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import pytest

from specdec_cli.cluster.jobs import FailedLine, Failure, LineFunction, Output, Shard, cut_shards
from specdec_cli.cluster.pool import Pool, WorkerShape
from specdec_cli.cluster.run import Run
from specdec_cli.cluster.session import Session
from specdec_cli.errors import InputError, ModelError, UsageError
from specdec_cli.text.io.lines import Line

TEXTS = [f"line {number}" for number in range(10)]
WHOLE = "".join(f"{text.upper()}\n" for text in TEXTS)


class Capitals:
    """A job that writes lines in capitals."""

    @contextmanager
    def open(self) -> Iterator[LineFunction]:
        yield lambda lines, _: Output(tuple(f"{line.text.upper()}\n" for line in lines))

    def failed(self, line: Line) -> str:
        return f"failed {line.number}\n"


class FakePool:
    """Two workers in this process; `fails` returns a failure for lines, or None."""

    def __init__(self, fails: Callable[[Sequence[Line]], Failure | None], load: Failure | None = None) -> None:
        self.job, self._fails, self._load = Capitals(), fails, load
        self._doing: list[tuple[Any, Output | Failure]] = []
        self.tries: list[int] = []
        self.shape = WorkerShape(2)

    @property
    def ready(self) -> int:
        return 0 if self._load else 2

    @property
    def idle(self) -> int:
        return self.ready - len(self._doing) if self.ready else 0

    @property
    def busy(self) -> int:
        return len(self._doing)

    def fill(self) -> None:
        pass

    def submit(self, key: Any, lines: Sequence[Line], first: int) -> None:
        assert first == lines[0].number
        self.tries.append(len(lines))
        with self.job.open() as function:
            self._doing.append((key, self._fails(lines) or function(lines, first)))

    def finished(self, _: float) -> Iterator[tuple[Any, Output | Failure]]:
        if self._load:
            yield None, self._load
        elif self._doing:
            yield self._doing.pop()  # the last one first

    def abandon(self) -> list[Any]:
        keys = [key for key, _ in self._doing]
        self._doing.clear()
        return keys


class FakeSession:
    """A cluster that ends `times` times."""

    def __init__(self, times: int = 0) -> None:
        self.times = times

    def lost(self) -> bool:
        return self.times > 0

    def restart(self) -> None:
        self.times -= 1


class Memory:
    """Keeps shards in memory; each may be written once."""

    def __init__(self) -> None:
        self.shards: dict[int, str] = {}
        self.failed: list[FailedLine] = []

    def has(self, shard: Shard) -> bool:
        return shard.index in self.shards

    def write(self, shard: Shard, output: Output, failed: list[FailedLine]) -> None:
        assert shard.index not in self.shards
        self.shards[shard.index] = "".join(output.texts)
        self.failed += failed

    @property
    def text(self) -> str:
        return "".join(self.shards[index] for index in sorted(self.shards))


def lines_of(texts: Sequence[str], error: Exception | None = None) -> Iterator[Line]:
    yield from (Line(number, text, "\n", f"line {number}") for number, text in enumerate(texts, 1))
    if error is not None:
        raise error


def process(pool: FakePool, session: FakeSession | None = None, store: Memory | None = None, error: Exception | None = None) -> Memory:
    stored = store or Memory()
    run = Run(cast(Session, session or FakeSession()), cast(Pool[Any], pool), stored, 3, lambda _: None)
    run.process(cut_shards(lines_of(TEXTS, error), 4))
    return stored


def test_each_shard_is_stored_once() -> None:
    pool = FakePool(lambda _: None)
    assert process(pool).text == WHOLE
    assert pool.tries == [4, 4, 2]


def test_stored_shards_are_not_done_again() -> None:
    store, pool = Memory(), FakePool(lambda _: None)
    store.shards[1] = "kept\n"
    assert process(pool, store=store).text.splitlines()[4] == "kept"
    assert pool.tries == [4, 2]


def test_a_shard_whose_worker_dies_is_tried_again() -> None:
    deaths = [Failure("the worker died")] * 2
    pool = FakePool(lambda lines: deaths.pop() if lines[0].number == 5 and deaths else None)
    store = process(pool)
    assert (store.text, store.failed) == (WHOLE, [])
    assert sorted(pool.tries) == [2, 4, 4, 4, 4]


def test_only_the_line_that_fails_is_set_aside() -> None:
    pool = FakePool(lambda lines: Failure("bad") if any(line.number == 6 for line in lines) else None)
    store = process(pool)
    assert store.text == WHOLE.replace("LINE 5\n", "failed 6\n")
    assert [(each.line.number, each.error) for each in store.failed] == [(6, "bad")]
    # the whole shard three times, the half with the line once, the line three times
    assert pool.tries.count(4) == 4
    assert pool.tries.count(1) == 4


def test_a_model_that_cannot_be_loaded_ends_the_run() -> None:
    with pytest.raises(UsageError, match="no such decoding"):
        process(FakePool(lambda _: None, load=Failure("no such decoding", UsageError)))
    with pytest.raises(ModelError, match="out of memory"):
        process(FakePool(lambda _: None, load=Failure("out of memory")))


def test_workers_that_cannot_load_the_model_do_not_end_a_run_of_others() -> None:
    pool = FakePool(lambda _: None)
    finished, loads = pool.finished, [Failure("no such file", UsageError), *[Failure("out of memory")] * 60]

    def failing_first(_: float) -> Iterator[tuple[Any, Output | Failure]]:
        return iter([(None, loads.pop(0))]) if loads else finished(0)

    pool.finished = failing_first  # type: ignore[method-assign]
    run = Run(cast(Session, FakeSession()), cast(Pool[Any], pool), store := Memory(), 3, lambda _: None)
    run.process(cut_shards(lines_of(TEXTS), 4))
    assert store.text == WHOLE
    assert run.progress.messages == [
        "specdec: warning: a worker could not load the model, and tries again: no such file",
        "specdec: warning: a worker could not load the model, and tries again: out of memory",
    ]


def test_each_worker_tries_to_load_the_model_before_the_run_ends() -> None:
    pool = FakePool(lambda _: None, load=Failure("no such file", UsageError))
    reports: list[int] = []
    run = Run(cast(Session, FakeSession()), cast(Pool[Any], pool), Memory(), 3, lambda progress: reports.append(progress.retries))
    with pytest.raises(UsageError, match="no such file"):
        run.process(cut_shards(lines_of(TEXTS), 4))
    assert reports == [1]  # the second of two failures ends the run


def test_a_run_in_which_nothing_succeeds_ends() -> None:
    pool = FakePool(lambda _: Failure("broken device"))
    with pytest.raises(ModelError, match="tries in a row failed; the last error: broken device"):
        run = Run(cast(Session, FakeSession()), cast(Pool[Any], pool), Memory(), 3, lambda _: None)
        run.process(cut_shards(lines_of([str(number) for number in range(1000)]), 100))


def test_an_error_of_the_input_is_raised_after_the_lines_before_it() -> None:
    store = Memory()
    with pytest.raises(InputError, match="damaged"):
        process(FakePool(lambda _: None), store=store, error=InputError("damaged"))
    assert store.text == "".join(WHOLE.splitlines(keepends=True)[:8])  # the last shard was not complete


def test_shards_under_way_are_done_again_after_the_cluster_ended() -> None:
    pool = FakePool(lambda _: None)
    assert process(pool, FakeSession(2)).text == WHOLE
    assert len(pool.tries) > 3


def test_a_cluster_that_ends_again_and_again_ends_the_run() -> None:
    pool = FakePool(lambda _: None)
    pool.finished = lambda _: iter(())  # type: ignore[method-assign]
    with pytest.raises(ModelError, match="no shard was finished in between"):
        process(pool, FakeSession(99))
