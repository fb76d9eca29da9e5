"""Execution of benchmark rows by specdec's own decodings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from specdec_cli.benchmark.greedy_lengths import GreedyLengths
from specdec_cli.benchmark.memory import peak_resident_mb
from specdec_cli.benchmark.profile import Stopwatch, add_timers
from specdec_cli.benchmark.records import Output, Run, timed
from specdec_cli.benchmark.rows import Row, variant_option
from specdec_cli.decoding.accept import Tolerant
from specdec_cli.decoding.drafters.lengths import known
from specdec_cli.decoding.names import METHODS, REWRITING, SEARCHES, TOLERANT
from specdec_cli.model.bundle import Bundle
from specdec_cli.pipeline.building import bundle_verifier
from specdec_cli.pipeline.corrector import Correction, Corrector, EditFilter
from specdec_cli.pipeline.engine import Engine
from specdec_cli.pipeline.request import DecodingRequest
from specdec_cli.pipeline.settings import Settings, resolve
from specdec_cli.pipeline.translator import Translation, Translator

_Decode = Callable[[Sequence[str]], list[Output]]


class BundleRunner:
    """Runs rows with a loaded bundle; with `split`, lines are split into sentences."""

    def __init__(self, bundle: Bundle, split: bool) -> None:
        self._bundle, self._split = bundle, split
        self._verifier = bundle_verifier(bundle)
        self._known: tuple[Sequence[str], dict[tuple[int, ...], int]] = ((), {})

    def prepare(self, row: Row) -> dict[str, Any]:
        """The resolved settings of `row`. Raises UsageError for a row that the bundle does not support."""
        return _described(row, self.engine(row).settings, self._min_score(row))

    def run(self, row: Row, lines: Sequence[str]) -> Run:
        """Decode `lines` and measure the time, with a new engine, so that no drafter keeps a memory of earlier runs."""
        engine = self.engine(row, lines)
        self._wait()
        run = timed(self._decoder(engine, row), lines, row.batch_size == 1)
        drafted, block_size = engine.drafted or (None, None)
        return replace(run, peak_memory_mb=_peak_mb(self._on_gpu), drafted=drafted, block_size=block_size)

    def profile(self, row: Row, lines: Sequence[str]) -> dict[str, float]:
        """Seconds spent in encoder, drafter, verifier and the rest while decoding `lines`, for a row that drafts."""
        engine, stopwatch = self.engine(row, lines), Stopwatch(self._on_gpu)
        add_timers(engine, stopwatch)
        run = timed(self._decoder(engine, row), lines, row.batch_size == 1)
        return stopwatch.seconds | {"others": run.seconds - sum(stopwatch.seconds.values())}

    def engine(self, row: Row, lines: Sequence[str] = ()) -> Engine:
        """An engine for `row`; with `row.oracle_length`, it is given the lengths of the greedy outputs of `lines`.

        Raises UsageError for a row that the bundle does not support.
        """
        tolerates = row.decoding in TOLERANT
        request = DecodingRequest(
            decoding=row.decoding,
            block_size=row.block_size if row.drafts else None,
            top_beta=row.top_beta if tolerates else None,
            tolerance=row.tolerance if tolerates else None,
            preset=row.variant if variant_option(row.decoding) is None else None,
            options=dict(row.options),
            beam_size=row.beam_size,
            length_penalty=row.length_penalty,
            max_length=row.max_length,
            batch_size=row.batch_size,
            with_scores=self._min_score(row) is not None,
        )
        lengths = known(self._output_lengths(row, lines), self._bundle.verifier.config.padding) if row.oracle_length else None
        return Engine(self._bundle, resolve(request, self._bundle), verifier=self._verifier, lengths=lengths)

    def _output_lengths(self, row: Row, lines: Sequence[str]) -> dict[tuple[int, ...], int]:
        """The lengths (tokens) of the greedy outputs of the sentences of `lines`, by source ids; cached for the last `lines`."""
        if self._known[0] != lines:
            greedy = replace(row, decoding="greedy", variant=None, block_size=None, options=(), oracle_length=False)
            engine = GreedyLengths(self._bundle, self.engine(greedy).settings, verifier=self._verifier)
            self._decoder(engine, greedy)(lines)
            self._known = (lines, engine.lengths)
        return self._known[1]

    def _decoder(self, engine: Engine, row: Row) -> _Decode:
        """A function that decodes lines as the command of the bundle's task does (translate or correct)."""
        info, tokenizer = self._bundle.info, self._bundle.tokenizer
        decode: Callable[[Sequence[str]], Iterator[Translation | Correction]]
        if info.task not in REWRITING and row.min_score is None:
            decode = Translator(engine, tokenizer, split=self._split).translate
        else:
            decode = Corrector(engine, tokenizer, EditFilter.of(info, row.min_score), split=self._split).correct

        def outputs(lines: Sequence[str]) -> list[Output]:
            decoded = [Output(line.text, line.sentences, line.rounds) for line in decode(lines)]
            self._wait()
            return decoded

        return outputs

    def _min_score(self, row: Row) -> float | None:
        """The smallest score of an accepted edit, None for no limit; searches have no limit because they have no token scores."""
        if row.decoding in SEARCHES:
            return None
        return self._bundle.info.min_score if row.min_score is None else row.min_score

    def _wait(self) -> None:
        """Wait for the GPU, so that the clock is read after all its work is done."""
        if self._on_gpu:
            torch.cuda.synchronize()

    @property
    def _on_gpu(self) -> bool:
        return next(self._bundle.verifier.parameters()).is_cuda


def _described(row: Row, settings: Settings, min_score: float | None) -> dict[str, Any]:
    """The settings that affect this decoding, for the report."""
    described: dict[str, Any] = {}
    if settings.decoding in METHODS and METHODS[settings.decoding].options:
        described = {**settings.options, **({"oracle_length": True} if row.oracle_length else {})}
    elif row.variant:
        described = {"preset": row.variant}
    if row.decoding == "auto":
        described["chosen"] = settings.decoding
    if settings.block_size:
        described["block_size"] = settings.block_size
    if min_score is not None:
        described["min_score"] = min_score
    if isinstance(settings.rule, Tolerant):
        described |= {"top_beta": settings.rule.top_beta, "tolerance": settings.rule.tolerance}
    if settings.decoding in SEARCHES:
        described |= {"beam_size": settings.beam_size, "length_penalty": settings.length_penalty}
    return described | {"max_length": settings.max_length, "batch_size": settings.batch_size, "threads": row.threads}


def _peak_mb(on_gpu: bool) -> float | None:
    return torch.cuda.max_memory_allocated() / 2**20 if on_gpu else peak_resident_mb()
