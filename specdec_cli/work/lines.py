"""Decoding of lines, and of the segments of documents, with one opened model, for translate and correct."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from specdec_cli.api import Model
from specdec_cli.console.input_output import Input, Outputs
from specdec_cli.console.options import TextOptions
from specdec_cli.console.reports import DraftTotals, Totals, Warner, print_statistics
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.documents.document import Purpose, check_languages
from specdec_cli.errors import InputError, counted
from specdec_cli.opening.conversions import Tell
from specdec_cli.opening.engines import Computation, Opened, Trace, open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.pipeline.corrector import Correction
from specdec_cli.pipeline.translator import Translation
from specdec_cli.text.checks import DESCRIPTIONS, count_kept
from specdec_cli.text.io.lines import STDIO, Line, LineTooLong, name_of
from specdec_cli.text.io.windows import windows
from specdec_cli.text.io.writing import Writer

R = TypeVar("R", Translation, Correction)
_HELD = 2**26
"""The memory, in bytes, for lines that are read but not yet written, if there is no memory limit."""
_SHARE = 4
"""1 / _SHARE of the memory limit is for lines that are read but not yet written, the rest for batches."""
_PARTS = 8
"""The most parts of long lines that are decoded together."""
_REFRESHES = 4
"""How often the progress is shown in a second."""
_PER_CHARACTER = 64
"""Approximate memory, in bytes, for a character of a line that is read but not yet written: line, sentences, tokens and output."""


def never(line: str) -> bool:  # noqa: ARG001
    """Return False: no line goes on in the next one."""
    return False


def opener(
    command: "LineCommand", machine: MachineOptions, computation: Computation | None, tell: Tell, trace: Trace | None
) -> tuple[Callable[[], Opened], int]:
    """Return a function that opens the engine of a command on `machine`, and the memory, in bytes, for lines that are read but not yet
    written.

    If `computation` is None, the function resolves the options of the command for the model.
    """
    memory = machine.batch_memory
    held = memory // _SHARE
    if computation is not None:
        return partial(computation.open, command.model, machine, memory - held, tell, trace), held or _HELD
    request = replace(command.request(machine), memory=memory - held)
    return partial(open_engine, command.model, machine, request, tell, trace), held or _HELD


OutputLines = Iterator[tuple[str, str]]
"""The output lines for an input line, each with its line ending."""


class Stream(Generic[R]):
    """Decodes lines with `model`, formats each by `written`, and counts lines, tokens and rounds in `totals`.

    `held` is the memory, in bytes, for lines that are read but not yet written. `goes_on` says whether a line may continue in the next
    one; both are then decoded together. `fitted` returns what of a decoded line can be written to its file (None: all of it). With
    `counts_spans`, `totals` counts protected spans too.
    """

    def __init__(
        self,
        model: Model[Any, R],
        warner: Warner,
        held: int,
        written: Callable[[Line, R], OutputLines],
        goes_on: Callable[[str], bool] = never,
        *,
        totals: Totals | None = None,
        fitted: Callable[[Line, R], R] | None = None,
        counts_spans: bool = False,
    ) -> None:
        self.model: Model[Any, R] = model
        self.engine, self.totals = model.opened.engine, Totals() if totals is None else totals
        self._warner, self._held, self._goes_on, self._counts_spans = warner, held, goes_on, counts_spans
        self._written: Callable[[Line, R], OutputLines] = written
        self._fitted: Callable[[Line, R], R] | None = fitted
        self.on_line: Callable[[int, int | None], None] | None = None
        """Called after each line or segment: with their number so far, and with that of all up to the end of the document (lines: None)."""

    def run(self, lines: Iterator[Line], *, parts: bool = False) -> Iterator[tuple[Line, R, OutputLines]]:
        """Yield each line, in order, with its decoded line and its output lines. With `parts`, lines are segments of a document.

        A window has the lines that have arrived, up to limits of their number and memory. If a line goes on, and the next one arrives
        soon, both are in the same window; no part goes on. Lines that are marked as code are copied. Raises InputError for lines that
        cannot be read.
        """
        goes_on = never if parts else self._goes_on

        def weigh(line: Line) -> int:
            return self._held // _PARTS if line.goes_on else len(line.text) * _PER_CHARACTER

        arriving = windows(lines, self.model.window, weigh, self._held, lambda line: not line.goes_on and goes_on(line.text))
        try:
            for window in arriving:
                self._warner.window = window
                texts = ["" if line.is_code else line.text for line in window]
                found = self.model.decode(texts, separate=parts, numbers=[line.number for line in window])
                for line, each in zip(window, found, strict=True):
                    decoded = replace(each, text=line.text) if line.is_code else each
                    self._count(line, decoded)
                    for warning in decoded.warnings:
                        if warning in DESCRIPTIONS:  # of terms, see `term_warnings`
                            self._warner.warn_of(line, DESCRIPTIONS[warning])
                    made = self._fitted(line, decoded) if self._fitted else decoded
                    yield line, made, self._written(line, made)
        except LineTooLong as error:
            raise InputError(f"{error}; --max-line-bytes allows longer lines") from error

    def decode_input(self, source: Input, writer: Outputs, *, as_lines: bool) -> Iterator[R]:
        """Yield each decoded line or segment of an input; with `as_lines`, write its output lines, too.

        Raises InputError for a document in other languages than those of the model.
        """
        document = source.document
        if document is not None:
            info = self.model.info
            check_languages(document, name_of(source.files[0]), info.source_language, info.target_language)
        with nullcontext() if document is None else self.model.with_drafts_of(document) as drafts:
            if drafts is not None and self.totals.drafts is None:
                self.totals.drafts = DraftTotals()
            total = None if document is None else self.totals.lines + len(document.segments)
            for line, decoded, outputs in self.run(iter(source.lines), parts=document is not None):
                if as_lines:
                    for output, ending in outputs:
                        writer.write(output, ending, line.file)
                if self.on_line is not None:
                    self.on_line(self.totals.lines, total)
                yield decoded

    def watch(self, writer: Writer) -> None:
        """Make the engine check `writer` while it decodes, so that it stops soon after the reader of the output has closed it."""
        self.engine.meanwhile = writer.check

    def print_statistics(self, loading: float, seconds: float) -> None:
        """Print the table of --stats to stderr; `loading` and `seconds` are the wall times of loading and of decoding."""
        print_statistics(self.totals, self.engine, self.model.opened.machine, loading, seconds)

    def _count(self, line: Line, decoded: R) -> None:
        if self._counts_spans:
            spans, kept = count_kept(line.text, decoded.text)
            self.totals.spans += spans
            self.totals.kept += kept
        self.totals.lines += not line.goes_on
        self.totals.sentences += len(decoded.sentences)
        self.totals.tokens += decoded.tokens
        self.totals.rounds += decoded.rounds


@contextmanager
def shown_progress(stream: Stream[Any], text: TextOptions) -> Iterator[None]:
    """Show how many lines, or texts of documents, `stream` has decoded, inside the block: if the output goes to files, and stderr to a
    terminal.
    """
    to_files = text.output not in (None, STDIO) or text.output_dir is not None
    if not to_files or text.quiet or text.trace or not sys.stderr.isatty():
        yield
        return
    from rich import progress
    from rich.console import Console

    columns = (progress.SpinnerColumn(), progress.TextColumn("{task.description}"), progress.TimeElapsedColumn())
    with progress.Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, refresh_per_second=_REFRESHES
    ) as bar:
        task = bar.add_task("reading")
        stream.on_line = lambda done, total: bar.update(
            task, description=counted(done, "line") if total is None else f"{done:,} of {counted(total, 'text')}"
        )
        yield


class LineCommand(Protocol):
    """What a command does with lines, before the model is loaded. It can be pickled."""

    @property
    def model(self) -> ModelChoice:
        """The model to load."""

    @property
    def machine(self) -> MachineOptions:
        """The options of the machine that computes."""

    def request(self, machine: MachineOptions) -> DecodingOptions:
        """The options of the decoding, with those of `machine`."""

    def open(self, machine: MachineOptions, computation: Computation | None = None) -> Stream[Any]:
        """Load the model on `machine`, for the `computation` that another process has resolved (None: for the request)."""

    def failed(self, line: Line) -> OutputLines:
        """The output lines for a line that could not be decoded."""


def read_whole(inputs: Iterable[Input]) -> tuple[list[Input], list[str]]:
    """Read all lines; return the inputs, and the texts of their lines.

    A line that cannot be read ends the inputs: its error is raised after the lines before it.
    """
    whole: list[Input] = []
    texts: list[str] = []
    for each in inputs:
        lines: list[Line] = []
        whole.append(replace(each, lines=lines))
        try:
            for line in each.lines:
                lines.append(line)
                texts.append(line.text)
        except InputError as error:
            whole[-1] = replace(each, lines=_lines_before(lines, error))
            break
    return whole, texts


def _lines_before(lines: Sequence[Line], error: InputError) -> Iterator[Line]:
    yield from lines
    raise error


def read_inputs(
    inputs: Iterable[Input],
    text: TextOptions,
    purpose: Purpose,
    *,
    redo: bool = False,
    writes: bool = True,
    divides: bool = False,
    language: Callable[[], str] = str,
) -> Iterator[Input]:
    """Yield each input with its lines; a document is parsed when it is its turn, in the `language` that is then known. `writes` and
    `divides` are as in `TextOptions.read`. Raises what `Input.open_document` and that raise.
    """
    for each in inputs:
        document = None
        if each.is_document:
            options = {"redo": redo, "front_matter": text.front_matter, "language": language(), "columns": text.named_columns}
            document = each.open_document(purpose, **options)
        lines = (
            text.read(each.files, writes=writes, divides=divides) if document is None else each.segment_lines(document, text.max_line_bytes)
        )
        yield replace(each, document=document, lines=lines)
