"""Measurement of the time spent in encoder, drafter, verifier and the rest of decoding (Ge et al. 2022, Table 15)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.options import Rule
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, Scores, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.model.drafter_config import Reads

PARTS = ("encoder", "drafter's encoder", "drafter", "verifier")
"""The timed parts. "Drafter's encoder" is what the drafter computes once for each source, even if it has no encoder."""


class Stopwatch:
    """Sums the `seconds` spent in each of PARTS; with `on_gpu`, waits for the GPU before reading the clock."""

    def __init__(self, on_gpu: bool) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._on_gpu = on_gpu

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Context manager that adds the wall time of its block to `seconds[part]`."""
        started = self._now()
        yield
        self.seconds[part] += self._now() - started

    def _now(self) -> float:
        if self._on_gpu:
            torch.cuda.synchronize()
        return perf_counter()


class TimedVerifier(Verifier):
    """A Verifier that shares the model with `verifier`, and adds the time of its methods to `stopwatch`."""

    def __init__(self, verifier: Verifier, stopwatch: Stopwatch) -> None:
        super().__init__(verifier.network, verifier.forced, verifier.constraints)
        self._stopwatch = stopwatch

    def start(self, entries: Tensor, *, reads: Reads = "states", cached: bool = True) -> State:
        """Call `Verifier.start`, and count its time as that of the encoder."""
        with self._stopwatch.measure("encoder"):
            return super().start(entries, reads=reads, cached=cached)

    def read(self, state: State, drafted: Tensor) -> Tensor:
        """Call `Verifier.read`, and count its time as that of the verifier."""
        with self._stopwatch.measure("verifier"):
            return super().read(state, drafted)

    def raw_score(self, state: State, draft: Draft) -> Scores:
        """Call `Verifier.raw_score`, and count its time as that of the verifier."""
        with self._stopwatch.measure("verifier"):
            return super().raw_score(state, draft)

    def judge(self, state: State, draft: Draft, rule: Rule) -> Verdict:
        """Call `Verifier.judge`, and count its time as that of the verifier."""
        with self._stopwatch.measure("verifier"):
            return super().judge(state, draft, rule)

    def score(self, state: State, draft: Draft) -> Scores:
        """Call `Verifier.score`, and count its time as that of the verifier."""
        with self._stopwatch.measure("verifier"):
            return super().score(state, draft)


class TimedDrafter:
    """A Drafter that calls `drafter` for everything, and adds the time to `stopwatch`.

    That of `begin` is added to "drafter's encoder", all other time to "drafter".
    """

    capturable, reads_sentences = False, True

    def __init__(self, drafter: Drafter, stopwatch: Stopwatch) -> None:
        self.limit = drafter.limit
        self._drafter, self._stopwatch = drafter, stopwatch

    def begin(self, state: State, sentences: Sequence[Sentence]) -> Any:
        """Return what the wrapped drafter's `begin` returns, its own state for the rows of `state`; timed."""
        with self._stopwatch.measure("drafter's encoder"):
            return self._drafter.begin(state, sentences)

    def propose(self, state: State, memory: Any, size: int) -> Draft:
        """Return the wrapped drafter's draft for the rows of `state`; timed."""
        with self._stopwatch.measure("drafter"):
            return self._drafter.propose(state, memory, size)

    def observe(self, state: State, memory: Any, verdict: Verdict) -> None:
        """Pass `state` and `verdict` to the wrapped drafter's `observe`; timed."""
        with self._stopwatch.measure("drafter"):
            self._drafter.observe(state, memory, verdict)


def add_timers(engine: Engine, stopwatch: Stopwatch) -> None:
    """Replace verifier and drafter of `engine`, in place, by wrappers that add their time to `stopwatch`."""
    engine.verifier = TimedVerifier(engine.verifier, stopwatch)
    engine.drafter = TimedDrafter(engine.drafter, stopwatch)
