"""The names of the formats of reports."""

from typing import Literal, get_args

ReportFormat = Literal["text", "gnu", "rdjsonl", "sarif", "github", "json"]
REPORTS: tuple[ReportFormat, ...] = get_args(ReportFormat)
"""The names of all formats."""
JSON_DOCUMENTS: tuple[ReportFormat, ...] = ("sarif", "json")
"""The formats that are one JSON document; the others have a line for each finding."""
