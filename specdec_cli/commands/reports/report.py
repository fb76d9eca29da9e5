"""Reports: how findings are written, line by line or as one JSON document."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from specdec_cli.commands.reports.finding import Finding
from specdec_cli.commands.reports.lines import github_line, gnu_line, rdjson_line, text_line
from specdec_cli.commands.reports.names import ReportFormat
from specdec_cli.commands.reports.sarif import SCHEMA, sarif_result, sarif_tool
from specdec_cli.errors import SpecdecError
from specdec_cli.files import json_text
from specdec_cli.text.edits import column

Written = Iterator[tuple[str, str]]
"""An iterator of texts to write, each with its line ending."""


class Report(Protocol):
    """Protocol: a report is its head, its findings, and its tail."""

    def head(self) -> Written:
        """Yield what is before the findings."""

    def finding(self, finding: Finding) -> Written:
        """Yield a finding."""

    def tail(self, *, completed: bool) -> Written:
        """Yield what is after the findings; not `completed` if an error ended the run."""


class LineReport:
    """A report with a line for each finding, which `write` makes."""

    def __init__(self, write: Callable[[Finding], str]) -> None:
        self._write = write

    def head(self) -> Written:
        """Yield nothing."""
        yield from ()

    def finding(self, finding: Finding) -> Written:
        """Yield the line of a finding."""
        yield self._write(finding), "\n"

    def tail(self, *, completed: bool) -> Written:  # noqa: ARG002
        """Yield nothing."""
        yield from ()


class ListReport:
    """A report that is a JSON list, with an object for each finding."""

    def __init__(self) -> None:
        self._count = 0

    def head(self) -> Written:
        """Yield the opening bracket."""
        yield "[", ""

    def finding(self, finding: Finding) -> Written:
        """Yield the object of a finding."""
        yield "," if self._count else "", "\n"
        self._count += 1
        yield json_text(self.entry(finding)), ""

    def tail(self, *, completed: bool) -> Written:  # noqa: ARG002
        """Yield the closing bracket."""
        yield "", "\n" * bool(self._count)
        yield "]", "\n"

    def entry(self, finding: Finding) -> dict[str, Any]:
        """The object of a finding; lines and columns count from 1, in code points, and the end is excluded."""
        edit, change = finding.edit, finding.change
        return {
            "file": None if finding.file is None else str(finding.file),
            "line": change.start.line,
            "column": column(change.start),
            "end_line": change.end.line,
            "end_column": column(change.end),
            "source": edit.source,
            "text": edit.text,
            "type": edit.type,
            "score": None if edit.score is None else round(edit.score, 4),
            "message": finding.message,
        }


class SarifReport(ListReport):
    """A report in SARIF: a log of one run, whose rules are the types of errors that were found."""

    def __init__(self) -> None:
        super().__init__()
        self._types: dict[str, None] = {}

    def head(self) -> Written:
        """Yield the beginning of the log, up to its results."""
        yield f'{{"$schema": {json.dumps(SCHEMA)}, "version": "2.1.0", "runs": [{{"results": [', ""

    def tail(self, *, completed: bool) -> Written:
        """Yield the end of the list of results, and the other properties of the run."""
        run = {
            "tool": sarif_tool(list(self._types)),
            "columnKind": "utf16CodeUnits",
            "invocations": [{"executionSuccessful": completed}],
        }
        yield "", "\n"
        yield f"], {json_text(run)[1:]}]}}", "\n"

    def entry(self, finding: Finding) -> dict[str, Any]:
        """The result object of a finding."""
        self._types.setdefault(finding.edit.type)
        return sarif_result(finding)


_LINES: dict[ReportFormat, Callable[[Finding], str]] = {
    "text": text_line,
    "gnu": gnu_line,
    "rdjsonl": rdjson_line,
    "github": github_line,
}


def open_report(format: ReportFormat) -> Report:
    """Make a report of this format."""
    if format in _LINES:
        return LineReport(_LINES[format])
    return SarifReport() if format == "sarif" else ListReport()


class _Writer(Protocol):
    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None: ...


@contextmanager
def written_around(report: Report, writer: _Writer) -> Iterator[None]:
    """Write the head and the tail of a report around the findings that are written in the block."""
    _write(writer, report.head())
    try:
        yield
    except SpecdecError:
        _write(writer, report.tail(completed=False))
        raise
    _write(writer, report.tail(completed=True))


def _write(writer: _Writer, lines: Iterable[tuple[str, str]]) -> None:
    for text, ending in lines:
        writer.write(text, ending)
