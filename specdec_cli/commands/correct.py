"""`specdec correct`: correction of text, line by line."""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

from specdec_cli.console.corrections import JSON_DOCUMENTS, REPORTS, ReportFormat
from specdec_cli.console.input_output import check_stdin
from specdec_cli.console.options import (
    DecodingFlags,
    EditOptions,
    FilesArgument,
    InstructionOption,
    MachineFlags,
    ModelOption,
    ShardOptions,
    TextOptions,
    output_option,
    with_groups,
)
from specdec_cli.console.reports import shows_colours
from specdec_cli.documents.formats import FORMATS, Format
from specdec_cli.errors import UsageError
from specdec_cli.opening.models import CORRECTOR, ModelChoice

InPlaceOption = Annotated[
    bool, output_option("--in-place", help="Replace each FILE by its corrected text; files without edits are not written.")
]


if TYPE_CHECKING:
    FormatName: TypeAlias = str
else:  # the formats of the input and those of reports: typer takes no list of literals
    FormatName = StrEnum("FormatName", {name.upper(): name for name in (*FORMATS, *REPORTS)})

CorrectFormatOption = Annotated[
    list[FormatName] | None,
    output_option(
        "--format",
        metavar="FORMAT",
        help=f"Format of the input: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}. With --check, also that of its report: "
        f"{', '.join(REPORTS[:-1])} or {REPORTS[-1]}; give the option twice for both.",
        show_default="by the ending of each FILE, lines otherwise; text",
    ),
]


@with_groups
def correct(
    files: FilesArgument = None,
    model: ModelOption = CORRECTOR,
    instruction: InstructionOption = None,
    *,
    edits: EditOptions,
    decoding: DecodingFlags,
    machine: MachineFlags,
    format: CorrectFormatOption = None,
    text: TextOptions,
    cluster: ShardOptions,
    in_place: InPlaceOption = False,
) -> None:
    """Correct text line by line, and documents; what has no errors is copied byte for byte.

    Documents are Markdown, subtitles, PO, XLIFF, HTML, Word, PowerPoint, OpenDocument, EPUB, JSON, YAML, properties, INI, CSV and texts of
    apps. Addresses, placeholders, tags, code and text in other languages are not changed. Lines are corrected as they arrive.
    """
    started = time.perf_counter()
    input_format, report_format = _split_formats(format or (), check=edits.check)
    text = replace(text, format=input_format)
    if edits.diff + edits.m2 + edits.check + text.as_json + in_place > 1:
        raise UsageError("--diff, --m2, --check, --json and --in-place are alternatives; give one")
    text.check_columns(files or ())
    check_stdin(files or (), "--ignore-file", edits.ignoring.ignore_file)
    _check_options(edits, decoding, text, report_format, on_cluster=cluster.ray is not None)
    if in_place and cluster.ray is not None:
        raise UsageError("--in-place does not go with --ray; give --output or --output-dir")
    chosen = ModelChoice(model, offline=machine.offline, instruction=instruction, task="correct")
    coloured = edits.diff and text.output is None and text.output_dir is None and shows_colours(sys.stdout)
    from specdec_cli.work.correcting import Correcting

    correcting = Correcting(chosen, decoding, machine, text, edits, edits.ignoring.ignored(), report_format, coloured)
    correcting.run(files or (), cluster, in_place=in_place, started=started)


def _split_formats(names: Sequence[FormatName], *, check: bool) -> tuple[Format | None, ReportFormat]:
    """Return the format of the input (None: not given) and that of the report of --check. JSON is both: with --check it is the report,
    unless it is given twice or with another report.

    Raises UsageError for two of one kind, and for the format of a report without --check.
    """
    inputs, reports = [name for name in FORMATS if name in names], [name for name in REPORTS if name in names]
    if names.count("json") == 1:
        (reports if not check or len(reports) > 1 else inputs).remove("json")
    for found in (inputs, reports):
        if len(found) > 1:
            raise UsageError(f"--format {found[0]} and --format {found[1]} are alternatives; give one")
    if reports and not check:
        raise UsageError(f"--format {reports[0]} is the format of a report; add --check")
    return inputs[0] if inputs else None, reports[0] if reports else "text"


def _check_options(edits: EditOptions, decoding: DecodingFlags, text: TextOptions, report: ReportFormat, *, on_cluster: bool) -> None:
    """Raise UsageError for options that exclude each other."""
    ignoring = edits.ignoring
    text.check_raw(
        {
            "--mode": edits.mode,
            "--min-score": edits.min_score is not None,
            "--max-edit-ratio": edits.max_edit_ratio is not None,
            "--ignore": ignoring.ignore,
            "--ignore-file": ignoring.ignore_file,
            "--ignore-category": ignoring.ignore_category,
            "--words": ignoring.words,
        }
    )
    if edits.mode and edits.min_score is not None:
        raise UsageError("--mode and --min-score are alternatives; give one")
    if (edits.mode or edits.min_score is not None) and decoding.search:
        option = "--mode" if edits.mode else "--min-score"
        raise UsageError(f"{option} needs scores of tokens, which decoding {decoding.search} does not have")
    if report in JSON_DOCUMENTS and (text.output_dir is not None or on_cluster):
        option = "--ray" if on_cluster else "--output-dir"
        raise UsageError(f"--format {report} is one document, which {option} cannot write; give another format")
