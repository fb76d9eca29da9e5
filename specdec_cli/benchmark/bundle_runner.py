"""Execution of benchmark rows by the reference engine."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from specdec_cli.benchmark.greedy_lengths import GreedyLengths
from specdec_cli.benchmark.memory import peak_resident_mb
from specdec_cli.benchmark.operation_counts import CountingEngine, countable
from specdec_cli.benchmark.profile import Stopwatch, add_timers
from specdec_cli.benchmark.records import Output, Run, timed
from specdec_cli.benchmark.row_decoding import Decode, describe_settings, line_decoder, options_of
from specdec_cli.benchmark.rows import Row
from specdec_cli.decoding.drafters import Lengths
from specdec_cli.decoding.drafters.jacobi import known
from specdec_cli.decoding.methods import OPTIONS
from specdec_cli.decoding.options import resolve
from specdec_cli.engines.reference import Engine, bundle_verifier
from specdec_cli.model.bundle import Bundle


class BundleRunner:
    """Runs rows of the benchmark with a loaded bundle by the reference engine; with `split`, lines are split into sentences."""

    def __init__(self, bundle: Bundle, split: bool) -> None:
        self._bundle, self._split = bundle, split
        self._verifier = bundle_verifier(bundle)
        self._known: tuple[Sequence[str], dict[tuple[int, ...], int]] = ((), {})

    def prepare(self, row: Row) -> dict[str, Any]:
        """The settings with which `row` is decoded, defaults resolved, by name. Raises UsageError if the bundle does not support `row`."""
        engine = self.engine(row)
        return describe_settings(row, engine.decoding, engine, self._bundle.info) | {"vocabulary": self._bundle.shape.vocabulary_size}

    def run(self, row: Row, lines: Sequence[str]) -> Run:
        """Decode `lines` with the settings of `row`, and measure time and memory: on a GPU its memory, else that of the process.

        The engine is new, so that acceptance statistics of earlier runs have no effect.
        """
        engine = self.engine(row, lines)
        self._wait()
        run = timed(self._decoder(engine, row), lines, row.options.batch_size == 1)
        drafted, block_size = engine.drafted or (None, None)
        return replace(run, peak_memory_mb=_peak_mb(self._on_gpu), drafted=drafted, block_size=block_size)

    def profile(self, row: Row, lines: Sequence[str]) -> dict[str, float]:
        """Decode `lines`; return the wall time in seconds spent in the parts PARTS of the stopwatch, and in "others".

        `row` must be one that drafts or searches (`Row.profiled`).
        """
        engine, stopwatch = self.engine(row, lines), Stopwatch(self._on_gpu)
        add_timers(engine, stopwatch)
        run = timed(self._decoder(engine, row), lines, row.options.batch_size == 1)
        return stopwatch.seconds | {"others": run.seconds - sum(stopwatch.seconds.values())}

    def count(self, row: Row, lines: Sequence[str]) -> dict[str, int] | None:
        """Decode `lines`; return the numbers of operations of "encoder", "drafter" and "verifier", by these names.

        None if the operations of the decoding cannot be counted (see `countable`).
        """
        decoding = resolve(options_of(row, self._bundle.info), self._bundle)
        if not countable(decoding.method):
            return None
        engine = CountingEngine(self._bundle, decoding, verifier=self._verifier, lengths=self._lengths(row, lines))
        self._decoder(engine, row)(lines)
        return engine.operations

    def engine(self, row: Row, lines: Sequence[str] = ()) -> Engine:
        """A new engine for `row`; with `row.oracle_length`, it gets the lengths of the greedy outputs of `lines` beforehand.

        Raises UsageError for a row that the bundle does not support.
        """
        decoding = resolve(options_of(row, self._bundle.info), self._bundle)
        return Engine(self._bundle, decoding, verifier=self._verifier, lengths=self._lengths(row, lines))

    def _lengths(self, row: Row, lines: Sequence[str]) -> Lengths | None:
        """The output lengths that `row` gets beforehand; None without `row.oracle_length`."""
        return known(self._output_lengths(row, lines), self._bundle.verifier.config.padding) if row.oracle_length else None

    def _output_lengths(self, row: Row, lines: Sequence[str]) -> dict[tuple[int, ...], int]:
        """The lengths (tokens) of the greedy outputs of the sentences of `lines`, by source ids; cached for the last `lines`."""
        if self._known[0] != lines:
            own: dict[str, Any] = {"block_size": None} | dict.fromkeys(OPTIONS)
            greedy = row.changed(decoding="greedy", variant=None, oracle_length=False, **own)
            engine = GreedyLengths(self._bundle, self.engine(greedy).decoding, verifier=self._verifier)
            self._decoder(engine, greedy)(lines)
            self._known = (lines, engine.lengths)
        return self._known[1]

    def _decoder(self, engine: Engine, row: Row) -> Decode:
        """A function that decodes lines, and waits for the GPU."""
        decode = line_decoder(engine, self._bundle, row, split=self._split)

        def outputs(lines: Sequence[str]) -> list[Output]:
            decoded = decode(lines)
            self._wait()
            return decoded

        return outputs

    def _wait(self) -> None:
        """Wait for the GPU, so that the clock is read after all its work is done."""
        if self._on_gpu:
            torch.cuda.synchronize()

    @property
    def _on_gpu(self) -> bool:
        return next(self._bundle.verifier.parameters()).is_cuda


def _peak_mb(on_gpu: bool) -> float | None:
    return torch.cuda.max_memory_allocated() / 2**20 if on_gpu else peak_resident_mb()
