"""Reading of texts and pairs of texts: sources, TSV, aligned files, and M2 files with edits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from specdec_cli.errors import InputError, counted
from specdec_cli.files import check_regular
from specdec_cli.text.io.lines import STDIO, Line, name_of, read_lines, read_text_lines


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
            raise InputError(f"{name_of(path)}, line {number}: {counted(len(fields), 'tab-separated field')}, expected {expected}")
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
                raise InputError(f"{line.location}: {counted(len(fields), 'tab-separated field')}, expected {expected}")
        yield fields[-2] if len(fields) > 1 else line.text


Tokens = tuple[str, ...]


@dataclass(frozen=True)
class GoldEdit:
    """An annotator's edit: the source tokens `start` to `end` (exclusive) should be replaced by one of `corrections`."""

    start: int
    end: int
    corrections: tuple[Tokens, ...]


@dataclass(frozen=True)
class AnnotatedSentence:
    """The tokens of a sentence, and the edits of each annotator (at least one) by the annotator's number."""

    source: Tokens
    annotators: Mapping[int, tuple[GoldEdit, ...]]


def read_m2(path: Path) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of an M2 file, which are separated by blank lines: an S line, then an A line for each edit.

    The annotators of a sentence are those with an A line; an annotator with only a `noop` line has no edits. A sentence without
    A lines has annotator 0 without edits. Raises InputError naming a malformed line.
    """
    block: list[tuple[str, str]] = []
    for number, line in enumerate(chain(read_text_lines(path), [""]), start=1):
        if line.strip():
            block.append((f"{path}, line {number}", line))
        elif block:
            yield _parse_block(block)
            block = []


def apply_gold_edits(source: Sequence[str], edits: Iterable[GoldEdit]) -> Tokens:
    """Apply `edits` to the tokens `source`, each with its first correction. Raises ValueError for overlapping edits."""
    tokens: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < position:
            raise ValueError(f"the edit of tokens {edit.start} to {edit.end} overlaps another, which ends at {position}")
        tokens += [*source[position : edit.start], *edit.corrections[0]]
        position = edit.end
    return (*tokens, *source[position:])


def _parse_block(block: Sequence[tuple[str, str]]) -> AnnotatedSentence:
    (location, first), *others = block
    mark, *source = first.split()
    if mark != "S":
        raise InputError(f"{location}: a sentence must begin with an S line, not with {mark!r}")
    annotators: dict[int, tuple[GoldEdit, ...]] = {}
    for location, line in others:
        annotator, edits = _parse_edit(location, line, len(source))
        annotators[annotator] = annotators.get(annotator, ()) + edits
    return AnnotatedSentence(tuple(source), dict(sorted(annotators.items())) or {0: ()})


def _parse_edit(location: str, line: str, length: int) -> tuple[int, tuple[GoldEdit, ...]]:
    """The annotator of an A line, and its edit; no edit for `noop`."""
    try:
        span, kind, corrections, _, _, annotator = line.removeprefix("A ").split("|||")
        start, end = map(int, span.split())
        number = int(annotator)
    except ValueError:
        raise InputError(f"{location}: not `A start end|||type|||correction|||...|||...|||annotator`") from None
    if kind == "noop":
        return number, ()
    if not 0 <= start <= end <= length:
        raise InputError(f"{location}: an edit of tokens {start} to {end}, but the sentence has {length}")
    return number, (GoldEdit(start, end, tuple(() if text == "-NONE-" else tuple(text.split()) for text in corrections.split("||"))),)


def check_text(paths: Sequence[Path], parallel: bool) -> None:
    """Check that each file has text and that its first 100 lines are well-formed: TSV pairs if `parallel`, else source lines.

    Raises InputError for a file that is missing, blank, malformed or not readable, and for a pipe, which cannot be read again.
    """
    for path in paths:
        check_regular(path, InputError)
        texts = (pair.source for pair in read_tsv(path)) if parallel else read_sources([path])
        if not any(list(map(str.strip, islice(texts, 100)))) and not any(map(str.strip, texts)):
            raise InputError(f"{path}: empty")
