"""Execution of benchmark rows by the native engine, without PyTorch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from specdec_cli.benchmark.memory import peak_resident_mb
from specdec_cli.benchmark.records import Run, timed
from specdec_cli.benchmark.row_decoding import describe_settings, line_decoder, options_of
from specdec_cli.benchmark.rows import Row
from specdec_cli.decoding.options import Decoding, resolve
from specdec_cli.engines.native import WORTH_LOADING, NativeEngine
from specdec_cli.model.bundle_info import BundleDescription


class NativeRunner:
    """Runs rows of the benchmark with `bundle` by the native engine; with `split`, lines are split into sentences."""

    def __init__(self, bundle: BundleDescription, split: bool) -> None:
        self._bundle, self._split = bundle, split

    def prepare(self, row: Row) -> dict[str, Any]:
        """The settings with which `row` is decoded, defaults resolved, by name.

        Raises Unsupported for a row, and UnsupportedModel for a bundle, that only the reference engine supports.
        """
        described = describe_settings(row, self._resolved(row), self._engine(row), self._bundle.info)
        return described | {"vocabulary": self._bundle.shape.vocabulary_size}

    def run(self, row: Row, lines: Sequence[str]) -> Run:
        """Decode `lines` with the settings of `row`, and measure time and memory.

        The engine is new, so that acceptance statistics of earlier runs have no effect.
        """
        engine = self._engine(row)
        if len(lines) >= WORTH_LOADING:
            engine.expect(len(lines))  # an optional drafter is loaded before the clock starts
        run = timed(line_decoder(engine, self._bundle, row, split=self._split), lines, row.options.batch_size == 1)
        skipped = self._resolved(row).may_skip and engine.decoding.method == "greedy"
        drafted, block_size = engine.drafted or ((0, 0.0) if skipped else (None, None))
        return replace(run, peak_memory_mb=peak_resident_mb(), drafted=drafted, block_size=block_size)

    def _engine(self, row: Row) -> NativeEngine:
        return NativeEngine(self._bundle, self._resolved(row), row.threads)

    def _resolved(self, row: Row) -> Decoding:
        return resolve(options_of(row, self._bundle.info), self._bundle)
