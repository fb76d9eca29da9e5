"""CSV tables: each cell is a text, except in the first row, which has the names of the columns."""

import csv
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.reading import decode, line_at, marked_encoding
from specdec_cli.documents.segments import Layout
from specdec_cli.documents.values import unescaped, value_segments
from specdec_cli.errors import InputError

_DELIMITERS = ",;\t|"
_SAMPLE = 20
"""The number of rows from which the delimiter is detected."""
_DOUBLED = re.compile('""')


def read_table(source: Source) -> TextDocument:
    """Parse a CSV table. The delimiter (comma, semicolon, tab or |) is detected from the first rows.

    The first row is translated too if it is the only row, or with `source.redo`. An output is put between quotation marks where CSV
    requires it. Raises InputError, naming the line, for a quotation mark that is not closed, and for text after a closing one.
    """
    encoding = marked_encoding(source.data) or "utf-8"
    content = decode(source.data, source.name, encoding)
    start = 1 if content.startswith("\ufeff") else 0
    delimiter = _delimiter(content[start:])
    cells = list(_cells(content, start, delimiter, source.name))
    first = 0 if source.redo or not cells or cells[-1][0] == 0 else 1
    quoted = Layout(escape=_in_quotes)
    bare = Layout(quoted=partial(_bare, delimiter=delimiter))
    segments = [
        segment
        for row, begin, finish, is_quoted in cells
        if row >= first
        for segment in value_segments(
            unescaped(content, begin, finish, _DOUBLED, lambda _: '"') if is_quoted else [(content[begin:finish], begin, finish, "text")],
            quoted if is_quoted else bare,
        )
    ]
    return TextDocument(source, content, segments, encoding)


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


def _cells(content: str, position: int, delimiter: str, name: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield row, begin and end of each cell, and whether it is between quotation marks, which are outside of begin and end."""
    bare, quoted, row = re.compile(rf"[^{re.escape(delimiter)}\r\n]*"), re.compile(r'"((?:[^"]|"")*+)"'), 0
    while position < len(content):
        found = quoted.match(content, position)
        if found is None and content[position] == '"':
            raise InputError(f"{line_at(name, content, position)}: a quotation mark that is not closed")
        if found is not None:
            yield row, *found.span(1), True
        else:
            found = bare.match(content, position)
            assert found is not None
            yield row, *found.span(), False
        position = found.end()
        after = content[position : position + 1]
        if after and after not in f"{delimiter}\r\n":
            raise InputError(f"{line_at(name, content, position)}: text after a closing quotation mark")
        row += after in ("\r", "\n") and bool(after)
        position += 2 if content.startswith("\r\n", position) else 1
