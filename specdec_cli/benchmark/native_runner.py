"""Execution of benchmark rows by the native engine, without PyTorch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from specdec_cli.benchmark.memory import peak_resident_mb
from specdec_cli.benchmark.records import Run, timed
from specdec_cli.benchmark.row_decoding import describe_settings, line_decoder, request_of
from specdec_cli.benchmark.rows import Row
from specdec_cli.model.bundle_description import BundleDescription
from specdec_cli.pipeline.native_engine import NativeEngine
from specdec_cli.pipeline.settings import resolve


class NativeRunner:
    """Runs rows of the benchmark with `bundle` by the native engine; with `split`, lines are split into sentences."""

    def __init__(self, bundle: BundleDescription, split: bool) -> None:
        self._bundle, self._split = bundle, split

    def prepare(self, row: Row) -> dict[str, Any]:
        """The settings with which `row` is decoded, defaults resolved, by name.

        Raises Unsupported for a row, and UnsupportedModel for a bundle, that only the reference engine supports.
        """
        settings = resolve(request_of(row, self._bundle.info), self._bundle)
        return describe_settings(row, settings, self._engine(row), self._bundle.info)

    def run(self, row: Row, lines: Sequence[str]) -> Run:
        """Decode `lines` with the settings of `row`, and measure time and memory.

        The engine is new, so that acceptance statistics of earlier runs have no effect.
        """
        engine = self._engine(row)
        run = timed(line_decoder(engine, self._bundle, row, split=self._split), lines, row.batch_size == 1)
        drafted, block_size = engine.drafted or (None, None)
        return replace(run, peak_memory_mb=peak_resident_mb(), drafted=drafted, block_size=block_size)

    def _engine(self, row: Row) -> NativeEngine:
        return NativeEngine(self._bundle, resolve(request_of(row, self._bundle.info), self._bundle), row.threads)
