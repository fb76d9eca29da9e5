"""The command-line options of `correct` that choose edits, and show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from specdec_cli.commands.options import OptionGroup, not_nan, output_option
from specdec_cli.commands.reports import REPORTS, ReportFormat
from specdec_cli.documents.names import FORMATS, Format
from specdec_cli.errors import UsageError

if TYPE_CHECKING:
    from specdec_cli.pipeline.ignored_edits import IgnoredEdits


_edits_option = partial(typer.Option, rich_help_panel="Edits")

DiffOption = Annotated[bool, _edits_option("--diff", help="Mark the edits in the line, word by word.")]
InPlaceOption = Annotated[
    bool, output_option("--in-place", help="Replace each FILE by its corrected text; files without edits are not written.")
]
M2Option = Annotated[bool, _edits_option("--m2", help="Write edits in M2 format.")]
CheckOption = Annotated[
    bool, _edits_option("--check", help="Report each edit, with its place and reason, as --format says; exit code 1 if there is any.")
]
MinScoreOption = Annotated[
    float | None,
    _edits_option(
        "--min-score",
        metavar="X",
        callback=not_nan,
        help="Reject edits whose score is below X, such as -0.5; the model is surer of a higher one.",
        show_default="the mode's",
    ),
]
ModeOption = Annotated[
    Literal["careful", "balanced", "thorough"] | None,
    _edits_option(
        "--mode",
        help="How many edits to make: only sure ones, those that are probably right, or doubtful ones too.",
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


class FormatName(StrEnum):
    """The formats of the input and those of reports: typer takes no list of literals."""

    LINES = "lines"
    TXT = "txt"
    MD = "md"
    SRT = "srt"
    VTT = "vtt"
    PO = "po"
    XLIFF = "xliff"
    HTML = "html"
    DOCX = "docx"
    TEXT = "text"
    GNU = "gnu"
    RDJSONL = "rdjsonl"
    SARIF = "sarif"
    GITHUB = "github"
    JSON = "json"


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


def split_formats(names: Sequence[FormatName], *, check: bool) -> tuple[Format | None, ReportFormat]:
    """Return the format of the input (None: not given) and that of the report of --check.

    Raises UsageError for two of one kind, and for the format of a report without --check.
    """
    inputs, reports = [name for name in FORMATS if name in names], [name for name in REPORTS if name in names]
    for found in (inputs, reports):
        if len(found) > 1:
            raise UsageError(f"--format {found[0]} and --format {found[1]} are alternatives; give one")
    if reports and not check:
        raise UsageError(f"--format {reports[0]} is the format of a report; add --check")
    return inputs[0] if inputs else None, reports[0] if reports else "text"


IgnoreOption = Annotated[
    list[str] | None,
    _edits_option("--ignore", metavar="WORD", help="Leave this word as it is; in lower case, also with capitals. Repeatable."),
]
IgnoreFileOption = Annotated[
    list[Path] | None,
    _edits_option(
        "--ignore-file",
        metavar="FILE",
        help="File of words to leave as they are, one a line; lines that begin with # are comments. Repeatable.",
    ),
]
WordsOption = Annotated[
    Path | None,
    _edits_option(
        "--words",
        metavar="FILE",
        help="Your list of words to leave as they are, one a line; a server's /v2/words adds words to it and removes them.",
        show_default=False,
    ),
]
IgnoreCategoryOption = Annotated[
    list[str] | None,
    _edits_option(
        "--ignore-category",
        metavar="NAME",
        help="Make no edits whose errors are all of this type of ERRANT, such as PUNCT, VERB or R:VERB:SVA. Repeatable.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class IgnoreOptions(OptionGroup):
    """The options that name edits which `correct` does not make."""

    ignore: IgnoreOption = None
    ignore_file: IgnoreFileOption = None
    ignore_category: IgnoreCategoryOption = None
    words: WordsOption = None

    def ignored(self) -> "IgnoredEdits":
        """The edits that are not made. Raises what `IgnoredEdits.of` and `WordList.of_file` raise."""
        from specdec_cli.pipeline.ignored_edits import IgnoredEdits
        from specdec_cli.text.spelling.word_list import WordList

        listed = () if self.words is None else WordList.of_file(self.words).words
        return IgnoredEdits.of((*(self.ignore or ()), *listed), self.ignore_file or (), self.ignore_category or ())


@dataclass(frozen=True, kw_only=True)
class EditOptions(OptionGroup):
    """The options of `correct` about edits."""

    diff: DiffOption = False
    m2: M2Option = False
    check: CheckOption = False
    mode: ModeOption = None
    min_score: MinScoreOption = None
    max_edit_ratio: MaxEditRatioOption = None
    ignoring: IgnoreOptions
