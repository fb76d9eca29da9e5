"""The source lines to distil: from plain text or from the source column of TSV, each once."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.parallel import read_text_lines


def read_sources(paths: Sequence[Path]) -> Iterator[str]:
    """The source lines of several files, in order. Raises InputError naming file and line."""
    for path in paths:
        yield from source_column(read_text_lines(path), str(path))


def source_column(lines: Iterable[str], name: str) -> Iterator[str]:
    """The source of each line: all of it, or of `source TAB target`, or of `domain TAB source TAB target`.

    Every line must have as many fields as the first that is not blank; blank lines pass. Raises InputError with
    `name` and the line's number.
    """
    columns = 0
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        columns = columns or (len(fields) if line else 0)
        if line and (len(fields) > 3 or len(fields) != columns):
            expected = "1, 2 or 3" if columns > 3 else str(columns)
            raise InputError(f"{name}, line {number}: {len(fields)} tab-separated fields, expected {expected}")
        yield fields[-2] if len(fields) > 1 else line


def distinct_lines(lines: Iterable[str], dropped: Counter[str]) -> list[str]:
    """Each line once, in order of first occurrence; blank and repeated ones are counted in `dropped`."""
    seen: dict[str, None] = {}
    for line in lines:
        if not line.strip():
            dropped["blank source"] += 1
        elif line in seen:
            dropped["repeated source"] += 1
        else:
            seen[line] = None
    return list(seen)


def digest_of(lines: Iterable[str]) -> str:
    """A fingerprint of `lines` and their order."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8") + b"\n")
    return digest.hexdigest()
