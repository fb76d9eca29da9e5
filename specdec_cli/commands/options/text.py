"""Command-line options of the text that is read and written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.commands.file_groups import Group
from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.commands.options.values import output_option
from specdec_cli.commands.outputs import Outputs, open_outputs
from specdec_cli.documents.names import FORMATS, LINES, TEXT, Format, format_of
from specdec_cli.errors import UsageError
from specdec_cli.text.io.lines import STDIO, Line, read_lines
from specdec_cli.text.segment.code import marked
from specdec_cli.text.segment.paragraphs import join_paragraphs, join_wrapped

FilesArgument = Annotated[
    list[Path] | None, typer.Argument(metavar="FILE", help="Text files and documents, .gz and .xz too; stdin if there are none.")
]
FormatOption = Annotated[
    Format | None,
    output_option(
        "--format",
        metavar="FORMAT",
        help=f"Format of the input: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
        show_default="by the ending of each FILE; lines otherwise",
    ),
]
NoSplitOption = Annotated[bool, output_option("--no-split", help="Take each line as one sentence instead of splitting it.")]
UnwrapOption = Annotated[
    bool,
    output_option(
        "--unwrap",
        help="Join the lines of a wrapped paragraph, decode it as one, and wrap it again; --json writes an object for each paragraph.",
    ),
]
MaxLineBytesOption = Annotated[int, output_option("--max-line-bytes", metavar="N", min=1, help="Refuse longer lines.")]
OutputOption = Annotated[
    Path | None,
    output_option("--output", "-o", metavar="FILE", help="File to write to; .gz and .xz are compressed.", show_default="stdout"),
]
OutputDirOption = Annotated[
    Path | None,
    output_option(
        "--output-dir",
        metavar="FOLDER",
        help="Folder to write a file of the same name to for each FILE; compressed input becomes plain output.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, output_option("--json", help="Write a JSON object for each line instead of text.")]
StatsOption = Annotated[bool, output_option("--stats", help="At the end, print tokens per round, time and memory to stderr.")]
TraceOption = Annotated[
    bool,
    output_option(
        "--trace",
        help="Print each round to stderr: draft, accepted tokens, first disagreement. Always drafts, even where greedy decoding is faster.",
    ),
]
QuietOption = Annotated[bool, output_option("--quiet", "-q", help="Print only errors to stderr.")]


@dataclass(frozen=True, kw_only=True)
class TextOptions(OptionGroup):
    """The options of input and output, of the commands that decode text line by line."""

    format: FormatOption = None
    no_split: NoSplitOption = False
    unwrap: UnwrapOption = False
    max_line_bytes: MaxLineBytesOption = 2**20
    output: OutputOption = None
    output_dir: OutputDirOption = None
    as_json: JsonOption = False
    stats: StatsOption = False
    trace: TraceOption = False
    quiet: QuietOption = False

    def read(self, group: Group) -> Iterator[Line]:
        """The lines of a group of files, with the code of programs marked, joined as `join` says."""
        return self.join(marked(read_lines(() if group.files == (STDIO,) else group.files, self.max_line_bytes)))

    def join(self, lines: Iterator[Line]) -> Iterator[Line]:
        """Join the lines of wrapped paragraphs to one line: those of text files, or of all files with --unwrap."""
        return join_paragraphs(lines) if self.unwrap else join_wrapped(lines, self._is_text)

    def _is_text(self, line: Line) -> bool:
        return (self.format or (LINES if line.file is None else format_of(line.file))) == TEXT

    def open_outputs(self, groups: Sequence[Group], *, one_stream: bool, in_place: bool = False) -> Outputs:
        """Open the output: a file, stdout, a folder with a file for each input, or with `in_place` the inputs themselves.

        With `one_stream`, what is written is a line for each line or segment. Raises UsageError if both --output and
        --output-dir are given, for an output that would overwrite an input, and for a document among several files that have one
        output.
        """
        if self.output_dir is not None and self.output is not None:
            raise UsageError("--output and --output-dir are alternatives; give one")
        if in_place and (self.output_dir is not None or self.output is not None):
            raise UsageError("--in-place and --output are alternatives; give one")
        return open_outputs(groups, self.output, self.output_dir, one_stream=one_stream, in_place=in_place)
