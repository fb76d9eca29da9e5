"""Decoding of a stream of lines, for translate and correct."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from specdec_cli.commands.engines import open_engine
from specdec_cli.commands.model_choice import ModelChoice
from specdec_cli.commands.options.machine import MachineOptions
from specdec_cli.commands.statistics import Totals, print_statistics
from specdec_cli.errors import InputError
from specdec_cli.pipeline.native_engine import NativeEngine
from specdec_cli.pipeline.request import DecodingRequest
from specdec_cli.text.lines import Line, LineTooLong
from specdec_cli.text.output_checks import DESCRIPTIONS
from specdec_cli.text.windows import windows
from specdec_cli.text.writing import Writer

WINDOW = 16
"""Number of batches in a window of lines that are sorted by length."""


class Decoded(Protocol):
    """A decoded line, as translator and corrector return it."""

    @property
    def text(self) -> str:
        """The output."""

    @property
    def tokens(self) -> int:
        """The number of emitted tokens, EOS included."""

    @property
    def rounds(self) -> int:
        """The number of rounds, of all sentences together."""

    @property
    def score(self) -> float | None:
        """The sum of the natural log probabilities of the tokens; None if it was not computed."""

    @property
    def sentences(self) -> tuple[tuple[int, ...], ...]:
        """The ids of each sentence of the line."""

    @property
    def decoding(self) -> str:
        """The name of the decoding that produced the line."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Messages about suspicious output, such as repetitions or lost numbers."""


R = TypeVar("R", bound=Decoded)
_HELD = 2**26
"""Memory for lines in flight without a memory limit, in bytes."""
_SHARE = 4
"""1 / _SHARE of the memory limit is for lines in flight (read, but not yet written), the rest for batches."""
_PER_CHARACTER = 64
"""Approximate memory per character in flight, in bytes: line, sentence, tokens and output."""


def record(line: Line, decoded: Decoded, decoding: str) -> dict[str, Any]:
    """The JSON object of a line; `decoding` is used for a line without sentences."""
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


class Stream:
    """Decodes lines with a bundle as requested; with `trace`, rounds are shown on stderr."""

    def __init__(self, model: ModelChoice, machine: MachineOptions, request: DecodingRequest, *, trace: bool, quiet: bool) -> None:
        held = request.memory // _SHARE
        opened = open_engine(model, machine, replace(request, memory=request.memory - held), trace=trace, quiet=quiet)
        self.bundle, self.engine, self.machine = opened.bundle, opened.engine, opened.machine
        self.settings = self.engine.settings
        self.totals = Totals()
        self._quiet = quiet
        self._held = held or _HELD
        self._window: list[Line] = []

    def run(
        self,
        lines: Iterator[Line],
        decode: Callable[[Sequence[str]], Iterator[R]],
        goes_on: Callable[[str], bool] = lambda _: False,
    ) -> Iterator[tuple[Line, R]]:
        """Yield each line with its output of `decode`, and count it. Raises InputError for lines that cannot be read.

        A line that may continue in the next one (`goes_on`) is decoded in one window with it, if that line arrives soon.
        """
        size = 1 if self.settings.batch_size == 1 else WINDOW * self.settings.batch_size * self.engine.workers
        try:
            for window in windows(lines, size, lambda line: len(line.text) * _PER_CHARACTER, self._held, lambda line: goes_on(line.text)):
                self._window = window
                for index, (line, decoded) in enumerate(zip(window, decode([x.text for x in window]), strict=True)):
                    self._count(decoded)
                    for warning in decoded.warnings:
                        self.warn(index, DESCRIPTIONS[warning])
                    yield line, decoded
        except LineTooLong as error:
            raise InputError(f"{error}; --max-line-bytes allows longer lines") from error

    def watch(self, writer: Writer) -> None:
        """Let the native engine end soon after the reader of the output has gone."""
        if isinstance(self.engine, NativeEngine):
            self.engine.meanwhile = writer.check

    def warn(self, index: int, message: str) -> None:
        """Print a warning about a line of the current window to stderr, unless --quiet."""
        if not self._quiet:
            print(f"specdec: warning: {self._window[index].location}: {message}", file=sys.stderr)

    def print_statistics(self, loading: float, seconds: float) -> None:
        """Print the table of --stats to stderr."""
        print_statistics(self.totals, self.engine, self.machine, loading, seconds)

    def _count(self, decoded: Decoded) -> None:
        self.totals.lines += 1
        self.totals.sentences += len(decoded.sentences)
        self.totals.tokens += decoded.tokens
        self.totals.rounds += decoded.rounds
