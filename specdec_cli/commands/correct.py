"""`specdec correct`: correction of text, line by line."""

import sys
import time
from functools import partial
from typing import Annotated, Literal

import typer

from specdec_cli.commands.model_choice import ModelChoice
from specdec_cli.commands.options.decoding import DecodingOptions
from specdec_cli.commands.options.groups import with_groups
from specdec_cli.commands.options.machine import MachineOptions
from specdec_cli.commands.options.model import ModelOption
from specdec_cli.commands.options.text import FilesArgument, TextOptions
from specdec_cli.commands.options.values import not_nan
from specdec_cli.decoding.names import SEARCHES
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.text.line_ends import is_unfinished

_edits_option = partial(typer.Option, rich_help_panel="Edits")


DiffOption = Annotated[bool, _edits_option("--diff", help="Mark the edits in the line, word by word.")]
M2Option = Annotated[bool, _edits_option("--m2", help="Write edits in M2 format.")]
CheckOption = Annotated[bool, _edits_option("--check", help="Write one edit per line, with its place; exit code 1 if there is any.")]
MinScoreOption = Annotated[
    float | None,
    _edits_option(
        "--min-score",
        metavar="X",
        max=0.0,
        callback=not_nan,
        help="Reject edits whose log probability is below X, such as -0.5.",
        show_default="the mode's",
    ),
]
ModeOption = Annotated[
    Literal["careful", "balanced", "thorough"] | None,
    _edits_option(
        "--mode",
        help="How many edits to accept: only sure ones, those that are probably right, or nearly all that the model proposes.",
        show_default="balanced",
    ),
]
MaxEditRatioOption = Annotated[
    float | None,
    _edits_option(
        "--max-edit-ratio",
        metavar="X",
        min=0.0,
        callback=not_nan,
        help="Leave a sentence unchanged if more than this share of its words would change.",
        show_default="0.6; no limit if the bundle does not correct",
    ),
]


@with_groups
def correct(
    files: FilesArgument = None,
    model: ModelOption = "en-gec",
    diff: DiffOption = False,
    m2: M2Option = False,
    check: CheckOption = False,
    mode: ModeOption = None,
    min_score: MinScoreOption = None,
    max_edit_ratio: MaxEditRatioOption = None,
    *,
    decoding: DecodingOptions,
    machine: MachineOptions,
    text: TextOptions,
) -> None:
    """Correct text line by line; text without errors is copied byte for byte.

    Addresses, placeholders, tags, code and text in other languages are not changed. Lines are corrected as they arrive.
    """
    started = time.perf_counter()

    from specdec_cli.commands.correction_view import view
    from specdec_cli.commands.stream import Stream
    from specdec_cli.pipeline.corrector import Corrector, EditFilter

    if diff + m2 + check + text.as_json > 1:
        raise UsageError("--diff, --m2, --check and --json are alternatives; give one")
    if mode and min_score is not None:
        raise UsageError("--mode and --min-score are alternatives; give one")
    if (mode or min_score is not None) and decoding.decoding in SEARCHES:
        option = "--mode" if mode else "--min-score"
        raise UsageError(f"{option} needs scores of tokens, which --decoding {decoding.decoding} does not have")
    lines = text.read(files or ())
    request = decoding.request(machine, with_scores=True, trace=text.trace)
    chosen = ModelChoice(model, offline=machine.offline, quiet=text.quiet)
    stream = Stream(chosen, machine, request, trace=text.trace, quiet=text.quiet)
    info, tokenizer = stream.bundle.info, stream.bundle.tokenizer
    edit_filter = EditFilter.of(info, min_score, max_edit_ratio, mode)
    languages = (info.source_language, info.target_language)
    corrector = Corrector(stream.engine, tokenizer, edit_filter, split=not text.no_split, warn=stream.warn, languages=languages)
    coloured = text.output is None and text.output_dir is None and sys.stdout.isatty()
    written = view(diff, m2, check, text.as_json, coloured=coloured, decoding=stream.settings.decoding)
    writer = text.open_writer(files or ())
    stream.watch(writer)
    loaded = time.perf_counter()
    changed = 0
    with writer:
        for line, correction in stream.run(lines, corrector.correct, is_unfinished):
            changed += bool(correction.edits)
            for output, ending in written(line, correction):
                writer.write(output, ending, line.file)
    if text.stats:
        stream.print_statistics(loaded - started, time.perf_counter() - loaded)
    if check and changed:
        raise SpecdecError(f"{changed} of {stream.totals.lines} lines need a change")
