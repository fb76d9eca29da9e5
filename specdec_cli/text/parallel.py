"""Reading of parallel text from TSV or aligned files, plain or compressed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.lines import name_of, read_text_lines


@dataclass(frozen=True)
class Pair:
    """A source line and its target line; `domain` is "" if the input has none."""

    source: str
    target: str
    domain: str = ""


def read_tsv(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a TSV file of lines `source TAB target` or `domain TAB source TAB target`,
    without the byte-order mark that the file may begin with.

    Raises InputError naming a line that has neither 2 nor 3 fields, or another number of fields than the first line.
    """
    columns = 0
    for number, line in enumerate(read_text_lines(path), start=1):
        fields = line.removeprefix("\ufeff" if number == 1 else "").split("\t")
        columns = columns or len(fields)
        if len(fields) not in (2, 3) or len(fields) != columns:
            expected = "2 or 3" if columns not in (2, 3) else str(columns)
            raise InputError(f"{name_of(path)}, line {number}: {len(fields)} tab-separated fields, expected {expected}")
        yield Pair(fields[-2], fields[-1], fields[0] if len(fields) == 3 else "")


def read_aligned(source: Path, target: Path) -> Iterator[Pair]:
    """Yield the pairs of lines with equal numbers in two files. Raises InputError if one file has more lines than
    the other.
    """
    sources, targets = read_text_lines(source), read_text_lines(target)
    count = 0
    for line in sources:
        other = next(targets, None)
        if other is None:
            raise InputError(f"{target}: ends after line {count}, but {source} has more lines")
        count += 1
        yield Pair(line, other)
    if next(targets, None) is not None:
        raise InputError(f"{source}: ends after line {count}, but {target} has more lines")


def read_pairs(tsv: Sequence[Path], aligned: Sequence[tuple[Path, Path]] = ()) -> Iterator[Pair]:
    """Yield the pairs of all TSV files, then those of all aligned files, in the order given.

    Raises InputError for a file that cannot be read, a wrong number of fields, and aligned files of different
    lengths.
    """
    for path in tsv:
        yield from read_tsv(path)
    for source, target in aligned:
        yield from read_aligned(source, target)
