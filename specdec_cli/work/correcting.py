"""The work of `specdec correct`: it opens the corrector, corrects lines and formats the results."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import typer

from specdec_cli.api import Corrector, check_corrects
from specdec_cli.console.corrections import Report, ReportFormat, fitted, marked_edits, open_report, view, written_around
from specdec_cli.console.input_output import Outputs, check_lines, inputs_of
from specdec_cli.console.options import DecodingFlags, EditOptions, ShardOptions, TextOptions
from specdec_cli.console.reports import Warner, say, tell_of_keyboard, teller, trace_on_stderr
from specdec_cli.decoding.methods import DEFAULT_MODE
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.documents.formats import PACKAGES
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.errors import SpecdecError, counted
from specdec_cli.model.bundle_info import Described
from specdec_cli.opening.engines import Computation
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.pipeline.corrector import Correction, LineCorrector, correction_rules
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.text.edits import Edit
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.code import is_beside_code
from specdec_cli.text.segment.paragraphs import is_unfinished
from specdec_cli.work.lines import Stream, opener, read_inputs, shown_progress


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

    def run(self, files: Sequence[Path], cluster: ShardOptions, *, in_place: bool, started: float) -> None:
        """Correct `files`, or stdin without one, here or on a cluster; `started` is the time at which the command began.

        Raises SpecdecError, for exit code 1, if --check found lines to change.
        """
        text, edits = self.text, self.edits
        if text.without:
            text.check_without(correction_rules())
        if cluster.ray is not None:
            from specdec_cli.work.cluster import decode_on_cluster  # a run without a cluster starts sooner

            check_lines(files, text.format)
            counts = decode_on_cluster("correct", replace(self, model=self.model.absolute()), files, text, cluster, goes_on)
            _end_of_check(edits.check, counts["changed"], counts["lines"])
            return
        inputs = inputs_of(files, text.format, writes=not edits.check)
        tell_of_keyboard(files, quiet=text.quiet)
        stream = self.open(self.machine)
        # A ZIP file cannot have the marks of --diff.
        one_stream = edits.m2 or edits.check or text.as_json or (edits.diff and any(each.format in PACKAGES for each in inputs))
        writer = text.open_outputs(inputs, one_stream=one_stream, in_place=in_place)
        stream.watch(writer)
        loaded = time.perf_counter()
        changed, totals = 0, Counter[str]()
        with writer, self.written_around(writer), shown_progress(stream, text):
            for each in read_inputs(
                inputs,
                text,
                "correct",
                writes=not edits.check,
                divides=not (edits.check or edits.diff or edits.m2),
                language=lambda: stream.model.info.source_language,
            ):
                document = each.document
                decoded = stream.decode_input(each, writer, as_lines=document is None or one_stream)
                of_texts = (one.edits for one in _counted(decoded, totals))
                if document is None or one_stream:
                    changed += sum(map(bool, of_texts))
                else:
                    made = [marked_edits(of_text, self.coloured) if edits.diff else of_text for of_text in of_texts]
                    changed += sum(map(bool, made))
                    writer.write_document(document.corrected(made), each.files[0])
        if text.stats:
            stream.print_statistics(loaded - started, time.perf_counter() - loaded)
        if (left := totals["too many"]) and not text.quiet:
            say(
                f"{counted(left, 'sentence')} of {stream.totals.sentences:,} stay as they are: too many of their words would change; "
                "--max-edit-ratio inf makes these edits"
            )
        _end_of_check(edits.check, changed, stream.totals.lines)

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


def _counted(decoded: Iterable[Correction], totals: Counter[str]) -> Iterator[Correction]:
    for one in decoded:
        totals["too many"] += one.too_many
        yield one


def _end_of_check(check: bool, changed: int, lines: int) -> None:
    """Raise SpecdecError, for exit code 1, if --check found lines to change."""
    if check and changed:
        raise SpecdecError(f"{changed} of {counted(lines, 'line')} {'needs' if changed == 1 else 'need'} a change")


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
