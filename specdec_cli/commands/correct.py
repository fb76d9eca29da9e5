"""`specdec correct`: correction of text, line by line."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from specdec_cli.commands.cluster.options import ShardOptions
from specdec_cli.commands.file_groups import check_lines, group_files
from specdec_cli.commands.model_choice import ModelChoice
from specdec_cli.commands.options.decoding import DecodingOptions
from specdec_cli.commands.options.groups import with_groups
from specdec_cli.commands.options.machine import MachineOptions
from specdec_cli.commands.options.model import ModelOption
from specdec_cli.commands.options.text import FilesArgument, TextOptions
from specdec_cli.commands.options.values import not_nan, output_option
from specdec_cli.decoding.names import SEARCHES
from specdec_cli.errors import SpecdecError, UsageError
from specdec_cli.text.line_ends import is_unfinished
from specdec_cli.text.lines import Line

if TYPE_CHECKING:
    from specdec_cli.commands.line_decoding import OpenedDecoding
    from specdec_cli.pipeline.corrector import Correction

_edits_option = partial(typer.Option, rich_help_panel="Edits")


DiffOption = Annotated[bool, _edits_option("--diff", help="Mark the edits in the line, word by word.")]
InPlaceOption = Annotated[
    bool, output_option("--in-place", help="Replace each FILE by its corrected text; files without edits are not written.")
]
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


@dataclass(frozen=True)
class EditOptions:
    """The options of `correct` about edits: how they are written, and which are rejected."""

    diff: bool = False
    m2: bool = False
    check: bool = False
    mode: Literal["careful", "balanced", "thorough"] | None = None
    min_score: float | None = None
    max_edit_ratio: float | None = None


@dataclass(frozen=True)
class Correcting:
    """A LineDecoding that corrects, as the options of `correct` say; with `coloured`, marked edits have colours."""

    model: ModelChoice
    decoding: DecodingOptions
    machine: MachineOptions
    text: TextOptions
    edits: EditOptions
    coloured: bool = False

    def open(self, machine: MachineOptions) -> "OpenedDecoding[Correction]":
        """Load the model on `machine`."""
        from specdec_cli.commands.line_decoding import OpenedDecoding
        from specdec_cli.commands.stream import Stream
        from specdec_cli.pipeline.corrector import Corrector, EditFilter

        request = self.decoding.request(machine, with_scores=True, trace=self.text.trace)
        stream = Stream(self.model, machine, request, trace=self.text.trace, quiet=self.text.quiet, counts_spans=self.text.stats)
        info, tokenizer = stream.bundle.info, stream.bundle.tokenizer
        edit_filter = EditFilter.of(info, self.edits.min_score, self.edits.max_edit_ratio, self.edits.mode)
        languages = (info.source_language, info.target_language)
        split = not self.text.no_split
        corrector = Corrector(stream.engine, tokenizer, edit_filter, split=split, warn=stream.warn, languages=languages)
        written, parts = self._written(stream.settings.decoding), partial(corrector.correct, separate=True)
        return OpenedDecoding(stream, corrector.correct, written, is_unfinished, parts)

    def failed(self, line: Line) -> Iterator[tuple[str, str]]:
        """The line unchanged, if it could not be corrected."""
        from specdec_cli.pipeline.corrector import Correction

        return self._written("")(line, Correction(line.text, warnings=("failed",)))

    def _written(self, decoding: str) -> "Callable[[Line, Correction], Iterator[tuple[str, str]]]":
        from specdec_cli.commands.correction_view import view

        edits = self.edits
        return view(edits.diff, edits.m2, edits.check, self.text.as_json, coloured=self.coloured, decoding=decoding)


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
    cluster: ShardOptions,
    in_place: InPlaceOption = False,
) -> None:
    """Correct text line by line, and documents; what has no errors is copied byte for byte.

    Documents are Markdown, subtitles, PO, XLIFF, HTML and Word.
    Addresses, placeholders, tags, code and text in other languages are not changed. Lines are corrected as they arrive.
    """
    started = time.perf_counter()

    from specdec_cli.commands.correction_view import marked_edits
    from specdec_cli.commands.group_decoding import decode_input, read_inputs

    if diff + m2 + check + text.as_json + in_place > 1:
        raise UsageError("--diff, --m2, --check, --json and --in-place are alternatives; give one")
    if mode and min_score is not None:
        raise UsageError("--mode and --min-score are alternatives; give one")
    if (mode or min_score is not None) and decoding.decoding in SEARCHES:
        option = "--mode" if mode else "--min-score"
        raise UsageError(f"{option} needs scores of tokens, which --decoding {decoding.decoding} does not have")
    chosen = ModelChoice(model, offline=machine.offline, quiet=text.quiet)
    coloured = text.output is None and text.output_dir is None and sys.stdout.isatty()
    edits = EditOptions(diff, m2, check, mode, min_score, max_edit_ratio)
    correcting = Correcting(chosen, decoding, machine, text, edits, coloured)
    if cluster.ray is not None:
        from specdec_cli.commands.cluster.decoding import decode_on_cluster

        check_lines(files or [], text.format)
        counts = decode_on_cluster("correct", replace(correcting, model=chosen.absolute()), files or [], text, cluster, is_unfinished)
        _end_of_check(check, counts["changed"], counts["lines"])
        return
    groups = group_files(files or (), text.format)
    opened = correcting.open(machine)
    stream = opened.stream
    # The marks of --diff would make a Word document of their own.
    one_stream = m2 or check or text.as_json or (diff and any(group.format == "docx" for group in groups))
    writer = text.open_outputs(groups, one_stream=one_stream, in_place=in_place)
    stream.watch(writer)
    loaded = time.perf_counter()
    changed = 0
    with writer:
        for each in read_inputs(groups, text, "correct"):
            document = each.document
            found = (one.edits for one in decode_input(opened, each, writer, as_lines=document is None or one_stream))
            if document is None or one_stream:
                changed += sum(map(bool, found))
            else:
                made = [marked_edits(edits, coloured) if diff else edits for edits in found]
                changed += sum(map(bool, made))
                writer.write_document(document.corrected(made), each.group.files[0])
    if text.stats:
        stream.print_statistics(loaded - started, time.perf_counter() - loaded)
    _end_of_check(check, changed, stream.totals.lines)


def _end_of_check(check: bool, changed: int, lines: int) -> None:
    """Raise SpecdecError, for exit code 1, if --check found lines to change."""
    if check and changed:
        raise SpecdecError(f"{changed} of {lines} lines need a change")
