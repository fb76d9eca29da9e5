"""Texts that are values of a file, such as those of JSON, YAML, properties and tables."""

import re
from collections.abc import Callable, Iterable, Iterator

from specdec_cli.documents.segments import Layout, Segment, is_decoded
from specdec_cli.text.segment.layout import FormReader
from specdec_cli.text.view import Part, view_of

_LINE = re.compile(r"[^\n]+")


def unescaped(content: str, begin: int, finish: int, escapes: re.Pattern[str], undo: Callable[[re.Match[str]], str]) -> Iterator[Part]:
    """Yield the parts of the characters `begin` to `finish` of a document, with what `undo` returns in place of its `escapes`."""
    for match in escapes.finditer(content, begin, finish):
        yield content[begin : match.start()], begin, match.start(), "text"
        begin = match.end()
        yield undo(match), match.start(), begin, "text"
    yield content[begin:finish], begin, finish, "text"


def value_segments(parts: Iterable[Part], layout: Layout) -> list[Segment]:
    """The segments of the value that `parts` are: its lines, and the texts of a message with forms, as far as they are decoded.

    With `layout.quoted`, a value that is not one text has no segments.
    """
    whole = view_of(part for part in parts if part[0])
    segments = []
    for start, end in _texts(whole.text):
        text = whole.text[start:end]
        if is_decoded(text):
            part = whole.part(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
            segments.append(Segment(part.text, part.pieces, layout))
    is_one = [segment.text for segment in segments] == [whole.text.strip()]
    return segments if is_one or layout.quoted is None else []


def escaped_units(character: str, mark: str = "\\u") -> str:
    r"""The escape \uXXXX of a character, or the two of one that has two code units of UTF-16; `mark` is what is before the digits."""
    data = character.encode("utf-16-be")
    return "".join(f"{mark}{data[index : index + 2].hex()}" for index in range(0, len(data), 2))


def of_escaped_units(escapes: str) -> str:
    r"""The text of escapes such as \u00e9, or \U00e9."""
    return bytes.fromhex(re.sub(r"\\[uU]", "", escapes)).decode("utf-16-be", "replace")


def _texts(text: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each line, without the syntax of a message with forms."""
    position = 0
    for begin, finish in [*FormReader().syntax(text), (len(text), len(text))]:
        for line in _LINE.finditer(text, position, begin):
            yield line.span()
        position = finish
