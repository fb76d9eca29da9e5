"""Decoding of lines, and of the segments of documents, with one opened model, for translate and correct."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from specdec_cli.commands.inputs import Group
from specdec_cli.commands.messages import teller
from specdec_cli.commands.options import TextOptions
from specdec_cli.commands.outputs import Outputs
from specdec_cli.commands.statistics import Totals, print_statistics
from specdec_cli.decoding.options import Decoding, DecodingOptions
from specdec_cli.documents.document import Document, Purpose
from specdec_cli.documents.languages import check_languages
from specdec_cli.engines.native import NativeEngine
from specdec_cli.errors import InputError
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.text.checks import DESCRIPTIONS, count_kept
from specdec_cli.text.io.lines import Line, LineTooLong, name_of
from specdec_cli.text.io.windows import windows
from specdec_cli.text.io.writing import Writer

if TYPE_CHECKING:
    from specdec_cli.commands.trace import Tracer
    from specdec_cli.model.bundle_info import Described


WINDOW = 16
"""The number of batches in a window, the lines that are read and sorted by length together."""


class Decoded(Protocol):
    """Protocol of a decoded line, as `Translator` and `Corrector` return it."""

    @property
    def text(self) -> str:
        """The output text of the line."""

    @property
    def tokens(self) -> int:
        """The number of emitted tokens of all sentences of the line, EOS included."""

    @property
    def rounds(self) -> int:
        """The number of rounds, summed over the sentences of the line."""

    @property
    def score(self) -> float | None:
        """The sum of the natural log probabilities of the tokens; None if it was not computed."""

    @property
    def sentences(self) -> tuple[tuple[int, ...], ...]:
        """The output ids of each sentence of the line."""

    @property
    def decoding(self) -> str:
        """The name of the decoding that produced the line; "" if the line was copied."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The names (keys of DESCRIPTIONS) of warnings about suspicious output, such as repetitions or lost numbers."""


R = TypeVar("R", bound=Decoded)
D = TypeVar("D", bound=Decoded, covariant=True)


class DecodeTexts(Protocol[D]):
    """Protocol of a function that decodes texts with these numbers in their file, and yields each in order."""

    def __call__(self, lines: Sequence[str], *, numbers: Sequence[int] = ()) -> Iterator[D]: ...


_HELD = 2**26
"""The memory, in bytes, for lines that are read but not yet written, if there is no memory limit."""
_SHARE = 4
"""1 / _SHARE of the memory limit is for lines that are read but not yet written, the rest for batches."""
_PER_CHARACTER = 64
"""Approximate memory, in bytes, for a character of a line that is read but not yet written: line, sentences, tokens and output."""


def never(line: str) -> bool:  # noqa: ARG001
    """Return False: no line goes on in the next one."""
    return False


def record(line: Line, decoded: Decoded, decoding: str) -> dict[str, Any]:
    """The JSON object that --json writes for a line; `decoding` is the name of the decoding if `decoded` has none."""
    return {
        "file": None if line.file is None else str(line.file),
        "line": line.number,
        "source": line.text,
        "text": decoded.text,
        "tokens": decoded.tokens,
        "rounds": decoded.rounds,
        "tokens_per_round": round(decoded.tokens / decoded.rounds, 3) if decoded.rounds else None,
        "score": None if decoded.score is None else round(decoded.score, 4),
        "decoding": decoded.decoding or decoding,
        "warnings": list(decoded.warnings),
    }


def _tracer(bundle: "Described") -> "Tracer":
    from specdec_cli.commands.trace import trace_on_stderr

    return trace_on_stderr(bundle)


class Stream:
    """Decodes lines with the bundle of `model` as `request` says, and counts lines, tokens and rounds in `totals`.

    With `trace`, the rounds are printed on stderr; with `quiet`, there are no warnings; with `counts_spans`, `totals` counts protected
    spans too. Raises what `open_engine` raises.
    """

    def __init__(
        self,
        model: ModelChoice,
        machine: MachineOptions,
        request: DecodingOptions | Decoding,
        *,
        trace: bool,
        quiet: bool,
        counts_spans: bool = False,
    ) -> None:
        held = request.memory // _SHARE
        opened = open_engine(model, machine, replace(request, memory=request.memory - held), teller(quiet), _tracer if trace else None)
        self.bundle, self.engine, self.machine = opened.bundle, opened.engine, opened.machine
        self.decoding = self.engine.decoding
        self.totals = Totals()
        self._quiet, self._counts_spans = quiet, counts_spans
        self._held = held or _HELD
        self._window: list[Line] = []

    def run(
        self,
        lines: Iterator[Line],
        decode: "DecodeTexts[R]",
        goes_on: Callable[[str], bool] = never,
    ) -> Iterator[tuple[Line, R]]:
        """Yield each line, in order, with its decoded line. `decode` is called with the texts of a window, and their numbers, at once.

        A window has the lines that have arrived, up to limits of their number and memory. If `goes_on` is true for a line, which
        then may continue in the next line, both are decoded in the same window if the next one arrives soon. Lines that are marked
        as code are copied. Raises InputError for lines that cannot be read.
        """
        size = 1 if self.decoding.batch_size == 1 else WINDOW * self.decoding.batch_size * self.engine.workers
        try:
            for window in windows(lines, size, lambda line: len(line.text) * _PER_CHARACTER, self._held, lambda line: goes_on(line.text)):
                self._window = window
                texts = ["" if line.is_code else line.text for line in window]
                for index, (line, found) in enumerate(zip(window, decode(texts, numbers=[line.number for line in window]), strict=True)):
                    decoded = replace(found, text=line.text) if line.is_code else found  # type: ignore[type-var]
                    self._count(line, decoded)
                    for warning in decoded.warnings:
                        self.warn(index, DESCRIPTIONS[warning])
                    yield line, decoded
        except LineTooLong as error:
            raise InputError(f"{error}; --max-line-bytes allows longer lines") from error

    def watch(self, writer: Writer) -> None:
        """Make the native engine check `writer` while it decodes, so that it stops soon after the reader of the output has closed it."""
        if isinstance(self.engine, NativeEngine):
            self.engine.meanwhile = writer.check

    def warn(self, index: int, message: str) -> None:
        """Print `message` to stderr as a warning about line `index` (from 0) of the current window, unless `quiet` was set."""
        self.warn_of(self._window[index], message)

    def warn_of(self, line: Line, message: str) -> None:
        """Print `message` to stderr as a warning about `line`, unless `quiet` was set."""
        if not self._quiet:
            print(f"specdec: warning: {line.location}: {message}", file=sys.stderr)

    def print_statistics(self, loading: float, seconds: float) -> None:
        """Print the table of --stats to stderr; `loading` and `seconds` are the wall times of loading and of decoding."""
        print_statistics(self.totals, self.engine, self.machine, loading, seconds)

    def _count(self, line: Line, decoded: Decoded) -> None:
        if self._counts_spans:
            spans, kept = count_kept(line.text, decoded.text)
            self.totals.spans += spans
            self.totals.kept += kept
        self.totals.lines += 1
        self.totals.sentences += len(decoded.sentences)
        self.totals.tokens += decoded.tokens
        self.totals.rounds += decoded.rounds


OutputLines = Iterator[tuple[str, str]]
"""The output lines for an input line, each with its line ending."""


@dataclass(frozen=True)
class OpenedDecoding(Generic[R]):
    """A loaded model with its `stream`, the function that decodes texts, and the one that formats a decoded line.

    `goes_on` says whether a text may continue in the next line; both are then decoded together. `decode_parts` decodes the segments
    of documents, of which none continues (None: as lines). `begin` is called with a document before it is decoded. `fitted` returns
    what of a decoded line can be written to its file (None: all of it).
    """

    stream: Stream
    decode: DecodeTexts[R]
    written: Callable[[Line, R], OutputLines]
    goes_on: Callable[[str], bool] = never
    decode_parts: DecodeTexts[R] | None = None
    begin: Callable[[Document], None] | None = None
    fitted: Callable[[Line, R], R] | None = None

    def run(self, lines: Iterator[Line], *, parts: bool = False) -> Iterator[tuple[Line, R, OutputLines]]:
        """Yield each line in order, with its decoded line and its output lines. With `parts`, lines are segments of a document."""
        decode, goes_on = (self.decode_parts or self.decode, never) if parts else (self.decode, self.goes_on)
        for line, decoded in self.stream.run(lines, decode, goes_on):
            made = self.fitted(line, decoded) if self.fitted else decoded
            yield line, made, self.written(line, made)


class LineDecoding(Protocol):
    """What a command does with lines, before the model is loaded. It can be pickled."""

    @property
    def model(self) -> ModelChoice:
        """The model to load."""

    @property
    def machine(self) -> MachineOptions:
        """The options of the machine that computes."""

    def request(self, machine: MachineOptions) -> DecodingOptions:
        """The options of the decoding, with those of `machine`."""

    def open(self, machine: MachineOptions, decoding: Decoding | None = None) -> OpenedDecoding[Any]:
        """Load the model on `machine`. Without `decoding`, the options of the request are resolved for the model."""

    def failed(self, line: Line) -> OutputLines:
        """The output lines for a line that could not be decoded."""


@dataclass(frozen=True)
class Input:
    """The lines of a group of files, or the segments of its document as lines."""

    group: Group
    document: Document | None
    lines: Iterable[Line]


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


def read_inputs(groups: Sequence[Group], text: TextOptions, purpose: Purpose, *, redo: bool = False) -> Iterator[Input]:
    """Yield the input of each group; a document is parsed when it is its turn. Raises what `Group.open_document` raises."""
    for group in groups:
        document = group.open_document(purpose, redo=redo) if group.is_document else None
        yield Input(group, document, text.read(group) if document is None else group.segment_lines(document, text.max_line_bytes))


def decode_input(opened: OpenedDecoding[R], source: Input, writer: Outputs, *, as_lines: bool) -> Iterator[R]:
    """Yield each decoded line or segment of an input; with `as_lines`, write its output lines, too.

    Raises InputError for a document in other languages than those of the model.
    """
    if source.document is not None:
        info = opened.stream.bundle.info
        check_languages(source.document, name_of(source.group.files[0]), info.source_language, info.target_language)
        if opened.begin is not None:
            opened.begin(source.document)
    for line, decoded, outputs in opened.run(iter(source.lines), parts=source.document is not None):
        if as_lines:
            for output, ending in outputs:
                writer.write(output, ending, line.file)
        yield decoded
