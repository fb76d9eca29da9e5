"""CSV tables: each cell is a text, but for the names of the columns in the first row, and data such as formulas, numbers and paths."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.reading import decode, line_at, marked_encoding
from specdec_cli.documents.segments import Layout
from specdec_cli.documents.values import unescaped, value_segments
from specdec_cli.errors import InputError, UsageError

_DELIMITERS = ",;\t|"
_SAMPLE = 20
"""The number of rows from which the delimiter is detected."""
_DOUBLED = re.compile('""')
_DATA = re.compile(
    r"=\S.*|[+@-][A-Za-z($].*[-+*/(].*"  # formulas
    r"|[-+]?\d[\d.,'\u2019 \u00a0\u202f]*"
    r"|(?i:true|false|null|none|nan)"
    r"|(?=[A-Z0-9_-]*\d)[A-Z0-9]+(?:[-_][A-Z0-9]+)*"  # numbers of articles
    r"|(?:[\w .-]*/)+[\w .-]*\.\w{1,5}|\.{0,2}/\S+",  # paths
    re.ASCII | re.DOTALL,
)
"""Cells that are data, whatever their column is."""
_NAMES_OF_DATA = re.compile(
    r"(?:first|last|given|family|user|file)[ _-]?name|surname|forename|keys?|ids?|uuid|sku|e-?mail|urls?|path|phone|iban",
    re.IGNORECASE,
)
"""The names of columns that are data, such as names of people."""
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""A name for addresses. Words with hyphens may look so too: all cells of a column must be such names."""


def read_table(source: Source) -> TextDocument:
    """Parse a CSV table. The delimiter (comma, semicolon, tab or |) is detected from the first rows.

    The first row is translated too if it is the only row, or with `source.redo`. An output is put between quotation marks where CSV
    requires it. Raises InputError, naming the line, for a quotation mark that is not closed, and for text after a closing one, and
    UsageError for a column of `source` that the table lacks.
    """
    encoding = marked_encoding(source.data) or "utf-8"
    content = decode(source.data, source.name, encoding)
    start = 1 if content.startswith("\ufeff") else 0
    delimiter = _delimiter(content[start:])
    cells = list(_cells(content, start, delimiter, source.name))
    first = 0 if source.redo or not cells or cells[-1].row == 0 else 1
    chosen = _chosen_columns(content, cells, source)
    if not chosen:
        chosen = {cell.column for cell in cells} - _slug_columns(content, [cell for cell in cells if cell.row >= first])
        chosen -= {cell.column for cell in cells if cell.row < first and _NAMES_OF_DATA.fullmatch(content[cell.start : cell.end].strip())}
    quoted = Layout(escape=_in_quotes)
    bare = Layout(quoted=partial(_bare, delimiter=delimiter))
    segments = [
        segment
        for row, column, begin, finish, is_quoted in cells
        if row >= first and column in chosen and not _DATA.fullmatch(content[begin:finish].strip())
        for segment in value_segments(
            unescaped(content, begin, finish, _DOUBLED, lambda _: '"') if is_quoted else [(content[begin:finish], begin, finish, "text")],
            quoted if is_quoted else bare,
        )
    ]
    return TextDocument(source, content, segments, encoding)


class _Cell(NamedTuple):
    """A cell: its row and column, from 0, the offsets where its text begins and ends, and whether quotation marks are around it."""

    row: int
    column: int
    start: int
    end: int
    is_quoted: bool


def _chosen_columns(content: str, cells: Sequence[_Cell], source: Source) -> set[int]:
    """The columns that are named in `source`."""
    names = [content[each.start : each.end].replace('""', '"').strip() for each in cells if each.row == 0]
    last, found = max((each.column for each in cells), default=-1), set[int]()
    for name in source.columns:
        same = {index for index, other in enumerate(names) if other == name}
        if not same and not (name.isdecimal() and 0 < int(name) <= last + 1):
            raise UsageError(f"--columns: {source.name} has no column {name!r}; it has {', '.join(names)}")
        found |= same or {int(name) - 1}
    return found


def _slug_columns(content: str, cells: Iterable[_Cell]) -> set[int]:
    """The columns all of whose cells are names for addresses, such as red-chair."""
    columns = defaultdict[int, list[str]](list)
    for cell in cells:
        if text := content[cell.start : cell.end].strip():
            columns[cell.column].append(text)
    return {column for column, texts in columns.items() if all(map(_SLUG.fullmatch, texts)) and any("-" in text for text in texts)}


def _in_quotes(text: str) -> str:
    return text.replace('"', '""')


def _bare(text: str, delimiter: str) -> str:
    """`text` as a cell: between quotation marks if it has the delimiter or begins with a mark."""
    return f'"{_in_quotes(text)}"' if delimiter in text or text.startswith('"') else text


def _delimiter(content: str) -> str:
    """Return the delimiter with which the first rows all have the same, and the largest, number of cells; a comma if there is none."""

    def columns(delimiter: str) -> int:
        rows = csv.reader(content[:100_000].splitlines(keepends=True), delimiter=delimiter)
        try:
            lengths = {len(row) for row in islice(rows, _SAMPLE) if row}
        except csv.Error:
            return 0
        return lengths.pop() if len(lengths) == 1 else 0

    return max(_DELIMITERS, key=columns)


def _cells(content: str, position: int, delimiter: str, name: str) -> Iterator[_Cell]:
    """Yield the cells; quotation marks around one are outside of its text."""
    bare, quoted, row = re.compile(rf"[^{re.escape(delimiter)}\r\n]*"), re.compile(r'"((?:[^"]|"")*+)"'), 0
    column = 0
    while position < len(content):
        match = quoted.match(content, position)
        if match is None and content[position] == '"':
            raise InputError(f"{line_at(name, content, position)}: a quotation mark that is not closed")
        if match is not None:
            yield _Cell(row, column, *match.span(1), True)
        else:
            match = bare.match(content, position)
            assert match is not None
            yield _Cell(row, column, *match.span(), False)
        position = match.end()
        after = content[position : position + 1]
        if after and after not in f"{delimiter}\r\n":
            raise InputError(f"{line_at(name, content, position)}: text after a closing quotation mark")
        if after and after in "\r\n":
            row, column = row + 1, 0
        else:
            column += 1
        position += 2 if content.startswith("\r\n", position) else 1
