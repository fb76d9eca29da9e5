"""Structured files without a reader: what is not understood is not touched, unless the user names a format."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from specdec_cli.documents.formats import ending_of
from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import Line, read_lines

UNREAD = frozenset(
    [
        *("tex", "sty", "cls", "bib", "rst", "adoc", "asciidoc", "org", "mediawiki"),
        *("jsonl", "ndjson", "toml", "ftl", "xcstrings", "resx", "ts"),
        *("ass", "ssa", "lrc", "ttml"),
        *("eml", "mbox", "ics", "vcf"),
    ]
)
"""The endings of structured files that have no reader; .ts are those of Qt, and not programs in TypeScript."""
_NAMES = frozenset(["dockerfile", "containerfile"])
_XML, _QT = ("<?xml", "<!DOCTYPE"), ("<?xml", "<!DOCTYPE TS", "<TS")
_ADVICE = "--format txt reads it as text, --format lines as lines"


def check_readable(paths: Iterable[Path]) -> None:
    """Raise InputError for the first of `paths` that is a structured file without a reader."""
    for path in paths:
        ending, name = ending_of(path), path.name.lower()
        if name in _NAMES or path.parts[-2:] == ("debian", "control"):
            raise InputError(f"{path}: files of this name are structured and have no reader; {_ADVICE}")
        if ending in UNREAD and (ending != "ts" or _begins(path).startswith(_QT)):
            raise InputError(f"{path}: .{ending} files are structured and have no reader; {_ADVICE}")


def _begins(path: Path) -> str:
    """The first line of a file that is not blank, or nothing."""
    return next((line.text.lstrip("\ufeff \t") for line in islice(read_lines([path]), 100) if line.text.strip()), "")


def unstructured(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield `lines`. Raises InputError before the first one of stdin that is not blank if it begins XML or JSON, which are no lines."""
    is_read = False
    for line in lines:
        if line.file is None and not is_read and line.text.strip():
            is_read = True
            if _is_structured(line.text.strip("\ufeff \t")):
                raise InputError(f"{line.location}: begins XML or JSON; name its format, as --format json does; {_ADVICE}")
        yield line


def _is_structured(text: str) -> bool:
    if text.startswith(_XML) or text in ("{", "["):
        return True
    if (text[:1], text[-1:]) not in (("{", "}"), ("[", "]")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
