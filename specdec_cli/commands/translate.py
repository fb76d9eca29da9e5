"""`specdec translate`: text to text, a line for a line."""

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specdec_cli.commands import options
from specdec_cli.commands.machine import resolve_machine
from specdec_cli.commands.model_choice import ModelChoice
from specdec_cli.text.lines import read_lines
from specdec_cli.text.paragraphs import join_paragraphs, rewrapped

if TYPE_CHECKING:
    from specdec_cli.pipeline.translator import Translation


NBestOption = Annotated[
    int,
    typer.Option("--n-best", metavar="N", min=1, help="With --json and beam: hypotheses a line.", rich_help_panel=options.OUTPUT_PANEL),
]


def translate(
    files: options.FilesArgument = None,
    model: options.ModelOption = "en-de",
    source_language: options.SourceLanguageOption = "",
    target_language: options.TargetLanguageOption = "",
    decoding: options.DecodingOption = "auto",
    block_size: options.BlockSizeOption = None,
    top_beta: options.TopBetaOption = None,
    tolerance: options.ToleranceOption = None,
    preset: options.PresetOption = None,
    match: options.MatchOption = None,
    stop: options.StopOption = None,
    jacobi_length: options.JacobiLengthOption = None,
    beam_size: options.BeamSizeOption = None,
    length_penalty: options.LengthPenaltyOption = None,
    iterations: options.IterationsOption = None,
    length_beam: options.LengthBeamOption = None,
    n_best: NBestOption = 1,
    max_length: options.MaxLengthOption = None,
    batch_size: options.BatchSizeOption = "auto",
    memory: options.MemoryOption = None,
    device: options.DeviceOption = "auto",
    precision: options.PrecisionOption = "auto",
    engine: options.EngineOption = "auto",
    threads: options.ThreadsOption = None,
    seed: options.SeedOption = 1,
    no_split: options.NoSplitOption = False,
    unwrap: options.UnwrapOption = False,
    max_line_bytes: options.MaxLineBytesOption = 2**20,
    output: options.OutputOption = None,
    output_dir: options.OutputDirOption = None,
    as_json: options.JsonOption = False,
    stats: options.StatsOption = False,
    trace: options.TraceOption = False,
    quiet: options.QuietOption = False,
    offline: options.OfflineOption = False,
) -> None:
    """Translate text, a line for a line; blank lines stay blank.

    Lines are translated as they arrive. A line of several sentences is split, translated and put together again; a model that
    summarises takes a line as one text.
    """
    started = time.perf_counter()

    from specdec_cli.commands.stream import Stream, open_writer, record
    from specdec_cli.pipeline.request import DecodingRequest
    from specdec_cli.pipeline.translator import Translator

    lines = read_lines(files or (), max_line_bytes)
    if unwrap:
        lines = join_paragraphs(lines)
    machine = resolve_machine(device, precision, threads, seed, quiet=quiet, engine=engine)
    request = DecodingRequest(
        decoding=decoding,
        block_size=options.number_or_auto(block_size),
        top_beta=top_beta,
        tolerance=tolerance,
        preset=preset,
        options=options.given(
            match=match, stop=stop, jacobi_length=options.number_or_max(jacobi_length), iterations=iterations, length_beam=length_beam
        ),
        beam_size=beam_size,
        length_penalty=length_penalty,
        n_best=n_best,
        max_length=max_length,
        batch_size=1 if trace else options.batch_rows(options.number_or_auto(batch_size)),
        memory=options.batch_memory(memory),
        with_scores=as_json,
        always_draft=trace,
    )
    chosen = ModelChoice(model, source_language, target_language, offline, quiet)
    stream = Stream(chosen, machine, request, trace=trace, quiet=quiet)
    info = stream.bundle.info
    summarises = info.task == "summarise"
    languages = None if summarises else (info.source_language, info.target_language)
    translator = Translator(
        stream.engine, stream.bundle.tokenizer, split=not (no_split or summarises), warn=stream.warn, languages=languages
    )
    writer = open_writer(output, output_dir, files or ())
    loaded = time.perf_counter()
    with writer:
        for line, translation in stream.run(lines, translator.translate):
            if not as_json:
                for text, ending in rewrapped(line, translation.text):
                    writer.write(text, ending, line.file)
                continue
            said = record(line, translation, stream.settings.decoding) | (_hypotheses(translation) if n_best > 1 else {})
            writer.write(json.dumps(said, ensure_ascii=False), source=line.file)
    if stats:
        stream.print_statistics(loaded - started, time.perf_counter() - loaded)


def _hypotheses(translation: "Translation") -> dict[str, Any]:
    """What --n-best adds to a line of --json."""
    return {"hypotheses": [{"text": text, "score": round(score, 4)} for text, score in translation.hypotheses]}
