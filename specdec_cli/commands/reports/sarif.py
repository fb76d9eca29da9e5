"""The SARIF format (OASIS, Static Analysis Results Interchange Format 2.1.0)."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from specdec_cli import __version__
from specdec_cli.commands.reports.finding import Finding
from specdec_cli.error_types.explanation import description
from specdec_cli.text.edits import FileEdit, utf16_column

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
