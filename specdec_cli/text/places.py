"""Places in files, for messages and for programs that change files."""

from typing import NamedTuple


class Point(NamedTuple):
    """A place between two characters of a file: the number of its line, from 1, and the text of the line before it."""

    line: int
    before: str


class FileEdit(NamedTuple):
    """A replacement of what is between two points of a file by `text`; None if programs cannot make it
    in the file, which is no text, or compressed.
    """

    start: Point
    end: Point
    text: str | None


def column(point: Point) -> int:
    """The column of a point, from 1, in code points. A byte order mark is not counted here nor in the other units."""
    return len(_visible(point)) + 1


def byte_column(point: Point) -> int:
    """The column of a point, from 1, in bytes of UTF-8."""
    return len(_visible(point).encode("utf-8", "surrogatepass")) + 1


def utf16_column(point: Point) -> int:
    """The column of a point, from 1, in UTF-16 code units."""
    return len(_visible(point).encode("utf-16-le", "surrogatepass")) // 2 + 1


def _visible(point: Point) -> str:
    return point.before.removeprefix("\ufeff")
