"""Output of corrected lines: text, marked changes, JSON, M2, and the reports of `correct --check` in the formats that editors and CI
systems read.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args
from urllib.parse import quote

from specdec_cli.console.input_output import SegmentLine
from specdec_cli.console.reports import record
from specdec_cli.documents.document import FileEdit, Point, byte_column, column, utf16_column
from specdec_cli.documents.wrapped import edited_lines, fitted_edits, paragraph_edit
from specdec_cli.error_types.names import description, explanation
from specdec_cli.errors import SpecdecError
from specdec_cli.files import json_text
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.io.lines import COMPRESSED, Line
from specdec_cli.text.segment.paragraphs import Paragraph
from specdec_cli.version import __version__

if TYPE_CHECKING:
    from specdec_cli.pipeline.corrector import Correction


ReportFormat = Literal["text", "gnu", "rdjsonl", "sarif", "github", "json"]
REPORTS: tuple[ReportFormat, ...] = get_args(ReportFormat)
"""The names of all formats."""
JSON_DOCUMENTS: tuple[ReportFormat, ...] = ("sarif", "json")
"""The formats that are one JSON document; the others have a line for each finding."""


@dataclass(frozen=True)
class Finding:
    """An edit of a line of `file` (None: stdin), and the change of the file that makes it."""

    file: Path | None
    edit: Edit
    change: FileEdit

    @classmethod
    def of(cls, line: Line, edit: Edit) -> "Finding":
        """Make the finding for an edit of the text of a line, wrapped paragraph or segment of a document."""
        change = _file_edit(line, edit)
        compressed = line.file is not None and line.file.suffix in COMPRESSED
        return cls(line.file, edit, change._replace(text=None) if compressed else change)

    @property
    def message(self) -> str:
        """What is wrong, and what to do."""
        return explanation(self.edit)

    @property
    def has_lines(self) -> bool:
        """Whether the file is plain text, so that the finding has lines and columns, and a change that programs can make."""
        return self.change.text is not None

    @property
    def path(self) -> str:
        """The name of the file, relative to the working folder if it is in it, with slashes; "stdin" for that."""
        if self.file is None:
            return "stdin"
        path = self.file
        if path.is_absolute() and path.is_relative_to(Path.cwd()):
            path = path.relative_to(Path.cwd())
        return path.as_posix()


def _file_edit(line: Line, edit: Edit) -> FileEdit:
    if isinstance(line, SegmentLine):
        return line.file_edit(edit)
    if isinstance(line, Paragraph):
        return paragraph_edit(line, edit)
    return FileEdit(Point(line.number, line.text[: edit.start]), Point(line.number, line.text[: edit.end]), edit.text)


def text_line(finding: Finding) -> str:
    """`file:line:column: message [type] (score)`, with columns in code points."""
    start, score = finding.change.start, finding.edit.score
    place = f"{finding.file or '<stdin>'}:{start.line}:{column(start)}"
    return f"{place}: {finding.message} [{', '.join(finding.edit.types)}]" + ("" if score is None else f" ({score:.2f})")


def gnu_line(finding: Finding) -> str:
    """`file:line:column: warning: message [type]`, as compilers write it, with columns in bytes of UTF-8."""
    start = finding.change.start
    place = f"{finding.file or '<stdin>'}:{start.line}:{byte_column(start)}"
    return f"{place}: warning: {finding.message} [{', '.join(finding.edit.types)}]"


def rdjson_line(finding: Finding) -> str:
    """A Diagnostic of the Reviewdog Diagnostic Format, as JSON; columns are in bytes of UTF-8, and the end is excluded."""
    change = finding.change
    found: dict[str, Any] = {
        "message": finding.message,
        "location": {"path": finding.path},
        "severity": "WARNING",
        "source": {"name": "specdec"},
        "code": {"value": finding.edit.type},
    }
    if finding.has_lines:
        span = {"start": _position(change.start), "end": _position(change.end)}
        found["location"]["range"] = span
        found["suggestions"] = [{"range": span, "text": change.text}]
    return json_text(found)


def github_line(finding: Finding) -> str:
    """A workflow command of GitHub that makes a warning; a place on several lines has no columns."""
    change = finding.change
    values = {"file": finding.path}
    if finding.has_lines:
        values |= {"line": str(change.start.line), "endLine": str(change.end.line)}
        if change.start.line == change.end.line:
            values |= {"col": str(column(change.start)), "endColumn": str(column(change.end))}
    values["title"] = finding.edit.type
    return f"::warning {','.join(f'{name}={_escaped_value(value)}' for name, value in values.items())}::{_escaped(finding.message)}"


def _position(point: Point) -> dict[str, int]:
    return {"line": point.line, "column": byte_column(point)}


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_value(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_result(finding: Finding) -> dict[str, Any]:
    """The result object of a finding; columns are in UTF-16 code units, and the end is excluded."""
    file = {"uri": _uri(finding)}
    place: dict[str, Any] = {"artifactLocation": file}
    result: dict[str, Any] = {
        "ruleId": finding.edit.type,
        "level": "warning",
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }
    if finding.has_lines:
        place["region"] = _region(finding.change)
        replacement = {"deletedRegion": _region(finding.change), "insertedContent": {"text": finding.change.text}}
        result["fixes"] = [{"artifactChanges": [{"artifactLocation": file, "replacements": [replacement]}]}]
    return result


def sarif_tool(types: list[str]) -> dict[str, Any]:
    """The tool object, with a rule for each of the error types that were found."""
    rules = [
        {"id": type, "shortDescription": {"text": _sentence(description(type))}, "defaultConfiguration": {"level": "warning"}}
        for type in types
    ]
    return {"driver": {"name": "specdec", "semanticVersion": __version__, "rules": rules}}


def _region(change: FileEdit) -> dict[str, int]:
    return {
        "startLine": change.start.line,
        "startColumn": utf16_column(change.start),
        "endLine": change.end.line,
        "endColumn": utf16_column(change.end),
    }


def _uri(finding: Finding) -> str:
    """A relative URI, or an absolute one for a file outside the working folder."""
    path = Path(finding.path)
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(finding.path))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


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


_RED, _GREEN, _PLAIN = "\033[31m", "\033[32;1m", "\033[0m"


def view(
    diff: bool, m2: bool, report: Report | None, as_json: bool, *, coloured: bool, decoding: str
) -> "Callable[[Line, Correction], Written]":
    """Make the function that formats a corrected line: as marked changes, M2, findings of `report`, JSON or, by default, text.

    At most one of the first four arguments may be given. `coloured` is for `diff`; `decoding` is the name of the decoding, for JSON.
    """
    if diff:
        return lambda line, correction: _lines(line, marked_edits(correction.edits, coloured))
    if m2:
        from specdec_cli.error_types.m2 import m2_block

        return lambda line, correction: ((text, "\n") for text in m2_block(line.text, correction.edits))
    if report is not None:
        return lambda line, correction: (each for edit in correction.edits for each in report.finding(Finding.of(line, edit)))
    if as_json:
        return lambda line, correction: iter([(json_text(_record(line, correction, decoding)), "\n")])
    return lambda line, correction: _lines(line, correction.edits)


def fitted(line: Line, correction: "Correction") -> "Correction":
    """Return `correction` with those of its edits that the lines of a wrapped paragraph or of a document allow."""
    if not correction.edits or not isinstance(line, SegmentLine | Paragraph):
        return correction
    edits = line.fitted(correction.edits) if isinstance(line, SegmentLine) else fitted_edits(line, correction.edits)
    return replace(correction, edits=tuple(edits), text=apply_edits(line.text, edits))


def _lines(line: Line, edits: Sequence[Edit]) -> Written:
    """Yield the line with `edits` made, or the lines of a paragraph."""
    if isinstance(line, Paragraph):
        yield from edited_lines(line, edits)
    else:
        yield apply_edits(line.text, edits), line.ending


def marked_edits(edits: Sequence[Edit], coloured: bool) -> list[Edit]:
    """Return edits that put marks, as in [-old-]{+new+}, in the place of each of `edits`; with `coloured`, in the colours of a terminal."""
    go, come = "[-{}-]", "{{+{}+}}"
    if coloured:
        go, come = f"{_RED}{go}{_PLAIN}", f"{_GREEN}{come}{_PLAIN}"
    return [edit._replace(text=go.format(edit.source) * bool(edit.source) + come.format(edit.text) * bool(edit.text)) for edit in edits]


def _record(line: Line, correction: "Correction", decoding: str) -> dict[str, Any]:
    edits = [
        {
            "start": edit.start,
            "end": edit.end,
            "source": edit.source,
            "text": edit.text,
            "score": None if edit.score is None else round(edit.score, 4),
            "type": edit.type,
        }
        for edit in correction.edits
    ]
    return record(line, correction, decoding) | {"edits": edits}
