"""The formats of reports that have a line for each finding: text, gnu, rdjsonl, github."""

from typing import Any

from specdec_cli.commands.reports.finding import Finding
from specdec_cli.files import json_text
from specdec_cli.text.edits import Point, byte_column, column


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
