"""Command-line options of the text that is read and written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.commands.options.groups import OptionGroup
from specdec_cli.commands.options.values import output_option
from specdec_cli.errors import UsageError
from specdec_cli.text.lines import Line, read_lines
from specdec_cli.text.paragraphs import join_paragraphs
from specdec_cli.text.writing import FolderWriter, LineWriter, Writer

FilesArgument = Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="Text files, .gz and .xz too; stdin without any.")]
NoSplitOption = Annotated[bool, output_option("--no-split", help="Take each line as one sentence instead of splitting it.")]
UnwrapOption = Annotated[
    bool,
    output_option(
        "--unwrap",
        help="Join the lines of a wrapped paragraph, decode it as one, and wrap it again; --json writes an object for each paragraph.",
    ),
]
MaxLineBytesOption = Annotated[int, output_option("--max-line-bytes", metavar="N", min=1, help="Refuse longer lines.")]
OutputOption = Annotated[Path | None, output_option("--output", "-o", metavar="FILE", help="File to write to.", show_default="stdout")]
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
        help="Print each round to stderr: draft, accepted tokens, bifurcation. Always drafts, even where greedy decoding is faster.",
    ),
]
QuietOption = Annotated[bool, output_option("--quiet", "-q", help="Print only errors to stderr.")]


@dataclass(frozen=True, kw_only=True)
class TextOptions(OptionGroup):
    """The options of input and output, of the commands that decode text line by line."""

    no_split: NoSplitOption = False
    unwrap: UnwrapOption = False
    max_line_bytes: MaxLineBytesOption = 2**20
    output: OutputOption = None
    output_dir: OutputDirOption = None
    as_json: JsonOption = False
    stats: StatsOption = False
    trace: TraceOption = False
    quiet: QuietOption = False

    def read(self, files: Sequence[Path]) -> Iterator[Line]:
        """The lines of `files`, or of stdin if there are none; with --unwrap, paragraphs are joined to one line."""
        lines = read_lines(files, self.max_line_bytes)
        return join_paragraphs(lines) if self.unwrap else lines

    def open_writer(self, files: Sequence[Path]) -> Writer:
        """Open the output: a file, a folder with a file for each of `files`, or stdout.

        Raises UsageError if both --output and --output-dir are given, and for an output that would overwrite one of `files`.
        """
        if self.output_dir is None:
            return LineWriter(self.output, files)
        if self.output is not None:
            raise UsageError("--output and --output-dir are alternatives; give one")
        return FolderWriter(self.output_dir, files)
