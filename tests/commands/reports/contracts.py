"""JSON schemas of what the readers of reports require, written from the schema of the Reviewdog Diagnostic Format and from SARIF 2.1.0.

They allow only the properties that the reports use, so that a misspelled one is an error.
"""

from typing import Any


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    properties = required | (optional or {})
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def list_of(item: dict[str, Any]) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": item}


TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 1}
RANGE = record({"start": record({"line": COUNT, "column": COUNT}), "end": record({"line": COUNT, "column": COUNT})})
RDJSON = record(
    {"message": TEXT, "location": record({"path": TEXT}, {"range": RANGE})},
    {
        "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
        "source": record({"name": TEXT}, {"url": TEXT}),
        "code": record({"value": TEXT}, {"url": TEXT}),
        "suggestions": list_of(record({"range": RANGE, "text": TEXT})),
    },
)

FILE = record({"uri": {"type": "string", "format": "uri-reference"}})
REGION = record({"startLine": COUNT, "startColumn": COUNT, "endLine": COUNT, "endColumn": COUNT})
MESSAGE = record({"text": TEXT})
LEVEL = {"enum": ["none", "note", "warning", "error"]}
RULE = record({"id": TEXT}, {"shortDescription": MESSAGE, "defaultConfiguration": record({}, {"level": LEVEL})})
REPLACEMENT = record({"deletedRegion": REGION}, {"insertedContent": record({"text": TEXT})})
PLACE = record({"artifactLocation": FILE}, {"region": REGION})
CHANGES = record({"artifactLocation": FILE, "replacements": list_of(REPLACEMENT)})
RESULT = record(
    {"message": MESSAGE, "ruleId": TEXT, "locations": list_of(record({"physicalLocation": PLACE}))},
    {"level": LEVEL, "fixes": list_of(record({"artifactChanges": list_of(CHANGES)}))},
)
DRIVER = record({"name": TEXT}, {"semanticVersion": TEXT, "rules": list_of(RULE)})
INVOCATION = record({"executionSuccessful": {"type": "boolean"}})
RUN = record(
    {"tool": record({"driver": DRIVER}), "results": list_of(RESULT)},
    {"columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]}, "invocations": list_of(INVOCATION)},
)
SARIF = record({"version": {"const": "2.1.0"}, "runs": list_of(RUN)}, {"$schema": TEXT})
