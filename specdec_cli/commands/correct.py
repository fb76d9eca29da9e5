"""`specdec correct`: corrected text, a line for a line."""

import sys
import time
from typing import Annotated

import typer

from specdec_cli.commands import options
from specdec_cli.commands.machine import resolve_machine
from specdec_cli.commands.model_choice import ModelChoice
from specdec_cli.decoding.names import SEARCHES
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.text.line_ends import is_unfinished
from specdec_cli.text.lines import read_lines
from specdec_cli.text.paragraphs import join_paragraphs

_EDITS_PANEL = "Edits"


DiffOption = Annotated[bool, typer.Option("--diff", help="Show what changes, word by word, in the line.", rich_help_panel=_EDITS_PANEL)]
M2Option = Annotated[bool, typer.Option("--m2", help="Write edits in M2 format.", rich_help_panel=_EDITS_PANEL)]
CheckOption = Annotated[
    bool,
    typer.Option("--check", help="Write an edit a line, with its place; exit code 1 if there is any.", rich_help_panel=_EDITS_PANEL),
]
MinScoreOption = Annotated[
    float | None,
    typer.Option(
        "--min-score",
        metavar="X",
        max=0.0,
        callback=options.not_nan,
        help="Hold back edits whose log probability is below X, such as -0.5.",
        show_default="the bundle's",
        rich_help_panel=_EDITS_PANEL,
    ),
]
MaxEditRatioOption = Annotated[
    float | None,
    typer.Option(
        "--max-edit-ratio",
        metavar="X",
        min=0.0,
        callback=options.not_nan,
        help="Leave a sentence alone if more than this share of its words would change.",
        show_default="0.6; none if the bundle does not correct",
        rich_help_panel=_EDITS_PANEL,
    ),
]


def correct(
    files: options.FilesArgument = None,
    model: options.ModelOption = "en-gec",
    diff: DiffOption = False,
    m2: M2Option = False,
    check: CheckOption = False,
    min_score: MinScoreOption = None,
    max_edit_ratio: MaxEditRatioOption = None,
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
    """Correct text, a line for a line; what needs no change stays byte for byte as it is.

    Addresses, placeholders, tags, code and text in other languages are left alone. Lines are corrected as they arrive.
    """
    started = time.perf_counter()

    from specdec_cli.commands.correction_view import view
    from specdec_cli.commands.stream import Stream, open_writer
    from specdec_cli.pipeline.corrector import Corrector, Restraint
    from specdec_cli.pipeline.request import DecodingRequest

    if diff + m2 + check + as_json > 1:
        raise UsageError("--diff, --m2, --check and --json are four ways to write the same; give one")
    if min_score is not None and decoding in SEARCHES:
        raise UsageError(f"--min-score needs scores of tokens, which --decoding {decoding} does not have")
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
        max_length=max_length,
        batch_size=1 if trace else options.batch_rows(options.number_or_auto(batch_size)),
        memory=options.batch_memory(memory),
        with_scores=True,
        always_draft=trace,
    )
    stream = Stream(ModelChoice(model, offline=offline, quiet=quiet), machine, request, trace=trace, quiet=quiet)
    restraint = Restraint.of(stream.bundle.info, min_score, max_edit_ratio)
    languages = (stream.bundle.info.source_language, stream.bundle.info.target_language)
    corrector = Corrector(stream.engine, stream.bundle.tokenizer, restraint, split=not no_split, warn=stream.warn, languages=languages)
    written = view(
        diff, m2, check, as_json, coloured=output is None and output_dir is None and sys.stdout.isatty(), decoding=stream.settings.decoding
    )
    writer = open_writer(output, output_dir, files or ())
    loaded = time.perf_counter()
    changed = 0
    with writer:
        for line, correction in stream.run(lines, corrector.correct, is_unfinished):
            changed += bool(correction.edits)
            for text, ending in written(line, correction):
                writer.write(text, ending, line.file)
    if stats:
        stream.print_statistics(loaded - started, time.perf_counter() - loaded)
    if check and changed:
        raise SpecdecError(f"{changed} of {stream.totals.lines} lines need a change")
