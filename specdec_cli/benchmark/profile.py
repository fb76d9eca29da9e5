"""Where the time of a decoding goes: encoder, drafter, verifier, and the rest (technical report, Table 15)."""

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
    """Adds up the seconds spent in named parts; waits for the GPU at both ends of each if `on_gpu`."""

    def __init__(self, on_gpu: bool) -> None:
        self.seconds = {"encoder": 0.0, "drafter": 0.0, "verifier": 0.0}
        self._on_gpu = on_gpu

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Count the time of a `with` block for `part`."""
        started = self._now()
        yield
        self.seconds[part] += self._now() - started

    def _now(self) -> float:
        if self._on_gpu:
            torch.cuda.synchronize()
        return perf_counter()


class WatchedVerifier(Verifier):
    """A verifier under a stopwatch."""

    def __init__(self, verifier: Verifier, stopwatch: Stopwatch) -> None:
        super().__init__(verifier.model, verifier.forced, verifier.constraints)
        self.execution = verifier.execution
        self._stopwatch = stopwatch

    def begin(
        self, numbers: Sequence[int], sources: Sequence[Sequence[int]], max_length: int | None = None, *, reads: Reads = "states"
    ) -> State:
        """Encode, as part "encoder"."""
        with self._stopwatch.measure("encoder"):
            return super().begin(numbers, sources, max_length, reads=reads)

    def read(self, state: State, drafted: Tensor) -> Tensor:
        """Compute states, as part "verifier"."""
        with self._stopwatch.measure("verifier"):
            return super().read(state, drafted)

    def raw_score(self, state: State, draft: Draft) -> Scores:
        """Score a step of a search, as part "verifier"."""
        with self._stopwatch.measure("verifier"):
            return super().raw_score(state, draft)

    def verify(self, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """Verify, as part "verifier"."""
        with self._stopwatch.measure("verifier"):
            return super().verify(state, draft, rule, with_scores=with_scores)


class WatchedDrafter:
    """A drafter under a stopwatch; all it does is part "drafter"."""

    def __init__(self, drafter: Drafter, stopwatch: Stopwatch) -> None:
        self._drafter, self._stopwatch = drafter, stopwatch

    def begin(self, state: State) -> object:
        """The drafter's own record."""
        with self._stopwatch.measure("drafter"):
            return self._drafter.begin(state)

    def propose(self, state: State) -> Draft:
        """The drafter's proposal."""
        with self._stopwatch.measure("drafter"):
            return self._drafter.propose(state)

    def observe(self, state: State, verdict: Verdict) -> None:
        """Let the drafter hear what was accepted."""
        with self._stopwatch.measure("drafter"):
            self._drafter.observe(state, verdict)


class WatchedOptionalDrafter(WatchedDrafter):
    """A drafter that may be left out, under a stopwatch."""

    def __init__(self, drafter: OptionalDrafter, stopwatch: Stopwatch) -> None:
        super().__init__(drafter, stopwatch)
        self._optional = drafter

    def for_rows(self, rows: int) -> Drafter:
        """Itself where the drafter chooses itself, else what it chooses."""
        chosen = self._optional.for_rows(rows)
        return self if chosen is self._optional else chosen


def watch(engine: Engine, stopwatch: Stopwatch) -> None:
    """Put verifier and drafter of `engine` under a stopwatch."""
    engine.verifier = WatchedVerifier(engine.verifier, stopwatch)
    drafter = engine.drafter
    if isinstance(drafter, OptionalDrafter):
        engine.drafter = WatchedOptionalDrafter(drafter, stopwatch)
    else:
        engine.drafter = WatchedDrafter(drafter, stopwatch)


class KernelClock:
    """Adds up the `seconds` spent in the compiled kernels, inside a `with` block; none where there are no kernels."""

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
