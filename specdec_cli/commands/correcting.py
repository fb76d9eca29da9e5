"""The work of `specdec correct`: it opens the corrector, corrects lines and formats the results."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property

import typer

from specdec_cli.api import Corrector, check_corrects
from specdec_cli.commands.corrections import Report, ReportFormat, fitted, open_report, view, written_around
from specdec_cli.commands.input_output import Outputs
from specdec_cli.commands.lines import Stream, opener
from specdec_cli.commands.options import DecodingFlags, EditOptions, TextOptions
from specdec_cli.commands.reports import Warner, teller, trace_on_stderr
from specdec_cli.decoding.methods import DEFAULT_MODE
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.model.bundle_info import Described
from specdec_cli.opening.engines import Computation
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.pipeline.corrector import Correction, LineCorrector
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.text.edits import Edit
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.code import is_beside_code
from specdec_cli.text.segment.paragraphs import is_unfinished


@dataclass(frozen=True)
class Correcting:
    """A LineCommand that corrects, as the options of `correct` say, without the edits `ignored`.

    `report_format` is that of --check; with `coloured`, marked edits have colours.
    """

    model: ModelChoice
    decoding: DecodingFlags
    machine: MachineOptions
    text: TextOptions
    edits: EditOptions
    ignored: IgnoredEdits
    report_format: ReportFormat = "text"
    coloured: bool = False

    @cached_property
    def report(self) -> Report:
        """The report of --check."""
        return open_report(self.report_format)

    def written_around(self, writer: Outputs) -> AbstractContextManager[None]:
        """Write the header and the footer of the report of --check around the findings, which the block writes."""
        if not self.edits.check:
            return nullcontext()
        return written_around(self.report, writer)

    def request(self, machine: MachineOptions) -> DecodingOptions:
        mode = "" if self.edits.min_score is not None or self.text.raw else self.edits.mode or DEFAULT_MODE
        return self.decoding.options(machine, with_scores=True, trace=self.text.trace, mode=mode)

    def open(self, machine: MachineOptions, computation: Computation | None = None) -> Stream[Correction]:
        text, edits, warner = self.text, self.edits, Warner(self.text.quiet)
        opening, held = opener(self, machine, computation, teller(text.quiet), trace_on_stderr if text.trace else None)

        def make(engine: SentenceDecoder, bundle: Described) -> LineCorrector:
            check_corrects(f"--model {self.model.name}", bundle.info)  # with --in-place its output would replace the text
            return LineCorrector.of_bundle(
                engine,
                bundle,
                mode=edits.mode,
                min_score=edits.min_score,
                max_edit_ratio=edits.max_edit_ratio,
                split=not text.no_split,
                warn=warner.warn,
                ignored=self.ignored,
                types=edits.check or edits.m2 or text.as_json,
                on_rejected=_show_rejected if text.trace else None,
                on_spelt=_show_spelt if text.trace else None,
                raw=text.raw,
                without=text.without or (),
            )

        model = Corrector.of(make, self.model.name, opening)
        written = self._written(model.decoding.method)
        return Stream(model, warner, held, written, goes_on, fitted=fitted, counts_spans=text.stats)

    def failed(self, line: Line) -> Iterator[tuple[str, str]]:
        """Format a line that could not be corrected: the line unchanged."""
        return self._written("")(line, Correction(line.text, warnings=("failed",)))

    def _written(self, decoding: str) -> Callable[[Line, Correction], Iterator[tuple[str, str]]]:
        edits = self.edits
        report = self.report if edits.check else None
        return view(edits.diff, edits.m2, report, self.text.as_json, coloured=self.coloured, decoding=decoding)


def goes_on(text: str) -> bool:
    """Whether a line may be a part of a sentence, or of code, that goes on in the next line."""
    return is_unfinished(text) or is_beside_code(text)


def _show_rejected(number: int, edit: Edit, rule: str) -> None:
    """Print an edit that the model made and a rule rejects."""
    typer.echo(f"{number + 1:>4}   x {edit.source!r} -> {edit.text!r}: {rule}{_shown_score(edit)}", err=True)


def _show_spelt(number: int, edit: Edit, rule: str) -> None:
    """Print an edit that was made before the model read the text, with the name of its rule."""
    typer.echo(f"{number + 1:>4}   + {edit.source!r} -> {edit.text!r}{f': {rule}' if rule else ''}{_shown_score(edit)}", err=True)


def _shown_score(edit: Edit) -> str:
    return "" if edit.score is None else f" (score {edit.score:.2f})"
