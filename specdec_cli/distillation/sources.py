"""Source lines to distil, from plain text or the source column of TSV files, without duplicates."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import STDIO, Line, read_lines


def read_sources(paths: Sequence[Path] = ()) -> Iterator[str]:
    """Yield the source of each line of several files in order; `-` or no path means stdin.

    A line is `source`, `source TAB target` or `domain TAB source TAB target`. All non-empty lines of a file must have the
    same number of fields; else InputError, naming file and line, is raised.
    """
    for path in paths or (STDIO,):
        yield from source_column(read_lines([path]))


def source_column(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the source of each line of one file. Raises InputError as `read_sources` does."""
    columns = 0
    for line in lines:
        fields = line.text.split("\t")
        if line.text:
            columns = columns or len(fields)
            if len(fields) != columns or columns > 3:
                expected = "1, 2 or 3" if columns > 3 else str(columns)
                raise InputError(f"{line.location}: {len(fields)} tab-separated fields, expected {expected}")
        yield fields[-2] if len(fields) > 1 else line.text


def distinct_lines(lines: Iterable[str], dropped: Counter[str]) -> list[str]:
    """The distinct lines that are not blank, in order of first occurrence.

    Blank and repeated lines are counted in `dropped`, in place, under "blank source" and "repeated source".
    """
    seen: dict[str, None] = {}
    for line in lines:
        if not line.strip():
            dropped["blank source"] += 1
        elif line in seen:
            dropped["repeated source"] += 1
        else:
            seen[line] = None
    return list(seen)


def sources_digest(lines: Iterable[str]) -> str:
    """A hash, in hexadecimal, of `lines` in their order."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8") + b"\n")
    return digest.hexdigest()[:16]
