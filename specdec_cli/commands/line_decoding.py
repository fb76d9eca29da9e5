"""Decoding of lines and the form of the output, for translate and correct, in this process or in a worker of a cluster."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from specdec_cli.commands.stream import Decoded, DecodeTexts, Stream, never
from specdec_cli.decoding.options import Decoding, DecodingOptions
from specdec_cli.documents.document import Document
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.text.io.lines import Line

R = TypeVar("R", bound=Decoded)
Outputs = Iterator[tuple[str, str]]
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
    written: Callable[[Line, R], Outputs]
    goes_on: Callable[[str], bool] = never
    decode_parts: DecodeTexts[R] | None = None
    begin: Callable[[Document], None] | None = None
    fitted: Callable[[Line, R], R] | None = None

    def run(self, lines: Iterator[Line], *, parts: bool = False) -> Iterator[tuple[Line, R, Outputs]]:
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

    def failed(self, line: Line) -> Outputs:
        """The output lines for a line that could not be decoded."""
