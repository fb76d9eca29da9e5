"""Workers that cannot load their models are started again after a pause; no cluster is started."""

from typing import Any, cast

import pytest
import ray

from specdec_cli.cluster.jobs import Failure, Job
from specdec_cli.cluster.pool import Backoff, Pool, WorkerShape


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_pauses_double_until_a_success() -> None:
    clock = Clock()
    backoff = Backoff(5, 15, clock)
    lengths = []
    for _ in range(4):
        assert not backoff.waiting
        backoff.fail()
        started = clock.now
        while backoff.waiting:
            backoff.fail()  # another failure of the same try
            clock.now += 1
        lengths.append(clock.now - started)
    assert lengths == [5, 10, 15, 15]
    backoff.succeed()
    backoff.fail()
    clock.now += 5
    assert not backoff.waiting


class FakeRay:
    """Actors whose model cannot be loaded; `started` counts them."""

    def __init__(self) -> None:
        self.started = 0

    def __call__(self, _: type) -> "FakeRay":
        return self

    def options(self, **_: object) -> "FakeRay":
        return self

    @property
    def load(self) -> "FakeRay":
        return self

    def remote(self, *job: object) -> Any:
        self.started += bool(job)
        return self if job else object()


def test_workers_are_started_again_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, clock = FakeRay(), Clock()
    slept: list[float] = []
    monkeypatch.setattr(ray, "remote", fake)
    monkeypatch.setattr(ray, "wait", lambda waiting, **_: (waiting, []))
    monkeypatch.setattr(ray, "get", lambda _: Failure("no such file"))
    monkeypatch.setattr("time.sleep", slept.append)
    pool: Pool[int] = Pool(cast(Job, None), WorkerShape(2), _backoff=Backoff(5, 60, clock))
    pool.fill()
    assert [result for _, result in pool.finished(0.5)] == [Failure("no such file")] * 2
    pool.fill()
    assert list(pool.finished(0.5)) == []
    assert (fake.started, slept) == (2, [0.5])
    clock.now += 5
    pool.fill()
    assert fake.started == 4
