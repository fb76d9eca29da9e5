"""Time spent in encoder, drafter, verifier and the rest of decoding (technical report, Table 15)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Self

import torch
from torch import Tensor

from specdec_cli.decoding.accept import Rule
from specdec_cli.decoding.drafters import Drafter, OptionalDrafter
from specdec_cli.decoding.state import Draft, Scores, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels.build import load_kernels
from specdec_cli.model.drafter_config import Reads
from specdec_cli.pipeline.engine import Engine


class Stopwatch:
    """Sums the seconds spent in each named part; with `on_gpu`, it waits for the GPU before it reads the clock."""

    def __init__(self, on_gpu: bool) -> None:
        self.seconds = {"encoder": 0.0, "drafter": 0.0, "verifier": 0.0}
        self._on_gpu = on_gpu

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Context manager that adds the time of its block to `part`."""
        started = self._now()
        yield
        self.seconds[part] += self._now() - started

    def _now(self) -> float:
        if self._on_gpu:
            torch.cuda.synchronize()
        return perf_counter()


class TimedVerifier(Verifier):
    """A verifier that measures its own time."""

    def __init__(self, verifier: Verifier, stopwatch: Stopwatch) -> None:
        super().__init__(verifier.model, verifier.forced, verifier.constraints)
        self.execution = verifier.execution
        self._stopwatch = stopwatch

    def begin(
        self, numbers: Sequence[int], sources: Sequence[Sequence[int]], max_length: int | None = None, *, reads: Reads = "states"
    ) -> State:
        """Encode the sources; timed as "encoder"."""
        with self._stopwatch.measure("encoder"):
            return super().begin(numbers, sources, max_length, reads=reads)

    def read(self, state: State, drafted: Tensor) -> Tensor:
        """Compute the verifier's states of the drafted tokens; timed as "verifier"."""
        with self._stopwatch.measure("verifier"):
            return super().read(state, drafted)

    def raw_score(self, state: State, draft: Draft) -> Scores:
        """Score a step of a search, as part "verifier"."""
        with self._stopwatch.measure("verifier"):
            return super().raw_score(state, draft)

    def verify(self, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """Verify a draft; timed as "verifier"."""
        with self._stopwatch.measure("verifier"):
            return super().verify(state, draft, rule, with_scores=with_scores)


class TimedDrafter:
    """A drafter wrapped so that its time is measured as "drafter"."""

    def __init__(self, drafter: Drafter, stopwatch: Stopwatch) -> None:
        self._drafter, self._stopwatch = drafter, stopwatch

    def begin(self, state: State) -> object:
        """The wrapped drafter's record of new rows."""
        with self._stopwatch.measure("drafter"):
            return self._drafter.begin(state)

    def propose(self, state: State) -> Draft:
        """The wrapped drafter's draft."""
        with self._stopwatch.measure("drafter"):
            return self._drafter.propose(state)

    def observe(self, state: State, verdict: Verdict) -> None:
        """Pass the verdict to the wrapped drafter."""
        with self._stopwatch.measure("drafter"):
            self._drafter.observe(state, verdict)


class TimedOptionalDrafter(TimedDrafter):
    """An OptionalDrafter wrapped so that its time is measured as "drafter"."""

    def __init__(self, drafter: OptionalDrafter, stopwatch: Stopwatch) -> None:
        super().__init__(drafter, stopwatch)
        self._optional = drafter

    def for_rows(self, rows: int) -> Drafter:
        """This wrapper if the wrapped drafter chooses itself, else the drafter that it chooses."""
        chosen = self._optional.for_rows(rows)
        return self if chosen is self._optional else chosen


def add_timers(engine: Engine, stopwatch: Stopwatch) -> None:
    """Replace verifier and drafter of `engine` by versions that measure their time with `stopwatch`."""
    engine.verifier = TimedVerifier(engine.verifier, stopwatch)
    drafter = engine.drafter
    if isinstance(drafter, OptionalDrafter):
        engine.drafter = TimedOptionalDrafter(drafter, stopwatch)
    else:
        engine.drafter = TimedDrafter(drafter, stopwatch)


class KernelTimer:
    """Context manager that sums the `seconds` spent in compiled kernels (0 without kernels)."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._kernels = load_kernels()

    def __enter__(self) -> Self:
        found = {} if self._kernels is None else vars(self._kernels)
        self._functions = {name: value for name, value in found.items() if callable(value)}
        for name, function in self._functions.items():
            setattr(self._kernels, name, self._timed(function))
        return self

    def __exit__(self, *exception: object) -> None:
        for name, function in self._functions.items():
            setattr(self._kernels, name, function)

    def _timed(self, function: Callable[..., int]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            started = perf_counter()
            result = function(*arguments)
            self.seconds += perf_counter() - started
            return result

        return call
