"""The title and the description in the front matter of a Markdown file: lines of YAML (---) or TOML (+++) before its text."""

import json
import re
from collections.abc import Iterator

from specdec_cli.documents.builder import SegmentBuilder
from specdec_cli.documents.document import Purpose
from specdec_cli.documents.segments import Layout, Segment

_FRONT_MATTER = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n(?P<lines>.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(
    r"^(?:title|description)[ \t]*[:=][ \t]*"
    r"(?:\"(?P<double>[^\"\\\r\n]*)\"|'(?P<single>[^'\r\n]*)'|(?P<plain>[^\s\"'\[\]{}&*!|>%@`#-][^\r\n]*?))[ \t]*\r?$",
    re.MULTILINE,
)
"""A field with a value on its line. Values with escapes, with comments and on several lines are kept."""
_COMMENT_OR_FIELD = re.compile(r"\s#|:(?:\s|$)")
_UNSAFE = re.compile(r"[\s\"'\[\]{},&*!|>%@`#?:-]|(?:true|false|yes|no|null|~|[\d.+-].*)$", re.IGNORECASE)
"""The beginning of a value of YAML that must be between quotation marks to be text."""


def front_matter_end(content: str) -> int:
    """The offset after the front matter of a file; 0 if it has none."""
    found = _FRONT_MATTER.match(content)
    return found.end() if found else 0


def front_matter_segments(content: str, purpose: Purpose) -> Iterator[Segment]:
    """Yield the segments of title and description. A translation of a value without quotation marks gets some where it needs them; a
    correction changes words of it only.
    """
    front = _FRONT_MATTER.match(content)
    if front is None:
        return
    plain = _plain if purpose == "translate" else str
    for found in _VALUE.finditer(content, *front.span("lines")):
        kind = found.lastgroup or ""
        if kind == "plain" and (front[1] == "+++" or _COMMENT_OR_FIELD.search(found[kind])):
            continue
        builder = SegmentBuilder(content)
        builder.text(*found.span(kind))
        escape = {"double": _in_double_quotes, "single": _in_single_quotes if front[1] == "---" else _in_literal}.get(kind, plain)
        segment = builder.build(Layout(escape=escape))
        if segment is not None:
            yield segment


def _in_double_quotes(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _in_single_quotes(text: str) -> str:
    return text.replace("'", "''")


def _in_literal(text: str) -> str:
    """The text of a literal string of TOML, which has no escapes."""
    return text.replace("'", "\u2019")


def _plain(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if _UNSAFE.match(text) or _COMMENT_OR_FIELD.search(text) else text
