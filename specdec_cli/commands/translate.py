"""`specdec translate`: text to text, a line for a line."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specdec_cli.commands import options
from specdec_cli.commands.loading import Machine, open_bundle, settle_machine
from specdec_cli.text.lines import Line, LineWriter, read_lines

if TYPE_CHECKING:
    from specdec_cli.decoding.settings import Settings
    from specdec_cli.decoding.translator import Translation

AUTOMATIC_BATCH = {"cpu": 16, "cuda": 64}
WINDOW = 16
"""Batches of lines that are sorted by length together, where so many lines have arrived."""


def translate(
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="Text files, .gz and .xz too; stdin without any.")] = None,
    model: options.ModelOption = "en-de",
    decoding: options.DecodingOption = "auto",
    block_size: options.BlockSizeOption = None,
    top_beta: options.TopBetaOption = None,
    tolerance: options.ToleranceOption = None,
    preset: options.PresetOption = None,
    beam_size: options.BeamSizeOption = 5,
    length_penalty: options.LengthPenaltyOption = 1.0,
    n_best: Annotated[
        int,
        typer.Option("--n-best", metavar="N", min=1, help="With --json and beam: hypotheses a line.", rich_help_panel=options.OUTPUT_PANEL),
    ] = 1,
    max_length: options.MaxLengthOption = None,
    batch_size: options.BatchSizeOption = "auto",
    device: options.DeviceOption = "auto",
    precision: options.PrecisionOption = "auto",
    threads: options.ThreadsOption = None,
    seed: options.SeedOption = 1,
    no_split: options.NoSplitOption = False,
    output: options.OutputOption = None,
    as_json: options.JsonOption = False,
    stats: options.StatsOption = False,
    trace: options.TraceOption = False,
    quiet: options.QuietOption = False,
    offline: options.OfflineOption = False,  # noqa: ARG001  nothing here ever uses the network
) -> None:
    """Translate text, a line for a line; blank lines stay blank.

    Lines are translated as they arrive. A line of several sentences is split, translated and put together again.
    """
    from rich.console import Console

    from specdec_cli.decoding.settings import Wishes

    started = time.perf_counter()
    lines = read_lines(files or ())
    console = Console(stderr=True)
    machine = settle_machine(device, precision, threads)
    rows = 1 if trace else options.number_or_auto(batch_size)
    wishes = Wishes(
        decoding=decoding,
        block_size=options.number_or_auto(block_size),
        top_beta=top_beta,
        tolerance=tolerance,
        preset=preset,
        beam_size=beam_size,
        length_penalty=length_penalty,
        n_best=n_best,
        max_length=max_length,
        batch_size=rows if isinstance(rows, int) else AUTOMATIC_BATCH[machine.device],
        with_scores=as_json,
    )
    _seed(seed)
    run = _Run(model, machine, wishes, console if trace else None, None if quiet else console, not no_split)
    loaded = time.perf_counter()
    with LineWriter(output, files or ()) as writer:
        for line, translation in run.translations(lines):
            text = json.dumps(run.record(line, translation), ensure_ascii=False) if as_json else translation.text
            writer.write(text, "\n" if as_json else line.ending)
    if stats:
        from specdec_cli.commands.statistics import print_statistics

        print_statistics(console, run.totals, run.settings, machine, loaded - started, time.perf_counter() - loaded)


def _seed(seed: int) -> None:
    import torch

    torch.manual_seed(seed)


class _Run:
    """A loaded bundle at work on a stream of lines."""

    def __init__(self, model: str, machine: Machine, wishes: Any, trace: Any, warnings: Any, split: bool) -> None:
        from specdec_cli.commands.statistics import Totals
        from specdec_cli.commands.trace import Tracer
        from specdec_cli.decoding.engine import Engine
        from specdec_cli.decoding.settings import settle
        from specdec_cli.decoding.translator import Translator

        bundle = open_bundle(model, machine)
        self.settings: Settings = settle(wishes, bundle)
        self.totals = Totals()
        self._warnings = warnings
        self._window: list[Line] = []
        tracer = Tracer(trace, bundle.tokenizer) if trace else None
        engine = Engine(bundle, self.settings, tracer)
        self._translator: Translator = Translator(engine, bundle.tokenizer, split=split, warn=self._warn)

    def translations(self, lines: Iterator[Line]) -> "Iterator[tuple[Line, Translation]]":
        """Each line with its translation."""
        from specdec_cli.text.windows import windows

        size = 1 if self.settings.batch_size == 1 else WINDOW * self.settings.batch_size
        for self._window in windows(lines, size):
            for line, translation in zip(self._window, self._translator.translate([x.text for x in self._window]), strict=True):
                self._count(translation)
                yield line, translation

    def record(self, line: Line, translation: "Translation") -> dict[str, Any]:
        """A line of --json."""
        record: dict[str, Any] = {
            "line": line.number,
            "source": line.text,
            "text": translation.text,
            "tokens": translation.tokens,
            "rounds": translation.rounds,
            "tokens_per_round": round(translation.tokens / translation.rounds, 3) if translation.rounds else None,
            "score": None if translation.score is None else round(translation.score, 4),
            "decoding": self.settings.decoding,
        }
        if self.settings.n_best > 1:
            record["hypotheses"] = [{"text": text, "score": round(score, 4)} for text, score in translation.hypotheses]
        return record

    def _count(self, translation: "Translation") -> None:
        self.totals.lines += 1
        self.totals.sentences += len(translation.sentences)
        self.totals.tokens += translation.tokens
        self.totals.rounds += translation.rounds

    def _warn(self, index: int, message: str) -> None:
        if self._warnings is not None:
            self._warnings.print(f"specdec: warning: {self._window[index].place}: {message}", soft_wrap=True, highlight=False, markup=False)
