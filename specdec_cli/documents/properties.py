"""Keys with values on lines: the properties of Java, and INI files. The values are texts; keys, comments and sections are kept."""

import re
from collections.abc import Iterator
from dataclasses import replace

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.reading import decode, marked_encoding
from specdec_cli.documents.segments import Layout, Segment
from specdec_cli.documents.values import escaped_units, of_escaped_units, unescaped, value_segments

_PROPERTY = re.compile(
    r"^[ \t\f]*(?![#!])(?:[^\\:=\s]|\\.)+[ \t\f]*[:=]?[ \t\f]*(?P<value>(?:[^\\\r\n]|\\(?:\r\n|[\s\S]))*+)", re.MULTILINE
)
_CONTINUED = re.compile(r"\\(?:\r\n|\r|\n)[ \t\f]*")
_ESCAPE = re.compile(rf"(?:\\u[0-9a-fA-F]{{4}})+|{_CONTINUED.pattern}|\\.")
_ESCAPE_OF_MESSAGE = re.compile(rf"{_ESCAPE.pattern}|''")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_ARGUMENT = re.compile(r"\{\d")
"""An argument of a message of Java, in which an apostrophe is written twice."""
_LEAST_WIDTH = 40
_LINE = re.compile(r"[^\r\n]+")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"(?:[ \t]+[#;].*|[ \t]*)')
_COMMENT = re.compile(r"[ \t][#;]")
_NAME = re.compile(r"[a-z0-9_.:/*-]+|(?i:true|false|yes|no|on|off|none|null)")
"""A value without quotation marks that is a setting, and no text."""
_QUOTE = re.compile(r'\\"')


def read_properties(source: Source) -> TextDocument:
    """Parse a file of properties, in UTF-8 or else in ISO 8859-1, as earlier versions of Java have them.

    An output has escapes for characters that the encoding lacks, or that the file has only as escapes.
    """
    encoding = marked_encoding(source.data) or ("utf-8" if _is_utf8(source.data) else "iso8859-1")
    content = decode(source.data, source.name, encoding)
    largest = 127 if content.removeprefix("\ufeff").isascii() and "\\u" in content else 255 if encoding == "iso8859-1" else 0x10FFFF
    segments = [segment for match in _PROPERTY.finditer(content) for segment in _of_property(content, *match.span("value"), largest)]
    return TextDocument(source, content, segments, encoding)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _of_property(content: str, begin: int, finish: int, largest: int) -> Iterator[Segment]:
    value = content[begin:finish]
    is_message = _ARGUMENT.search(value) is not None

    def escape(text: str) -> str:
        text = text.replace("\\", "\\\\").replace("'", "''" if is_message else "'")
        return "".join(each if ord(each) <= largest else escaped_units(each) for each in text)

    layout = Layout(escape=escape)
    if continued := _CONTINUED.search(value):
        ending = "\r\n" if "\r\n" in continued[0] else "\n"
        lines = value.splitlines()
        layout = replace(layout, width=max(_LEAST_WIDTH, *map(len, lines)), gap=f" \\{ending}    ")
    return iter(value_segments(unescaped(content, begin, finish, _ESCAPE_OF_MESSAGE if is_message else _ESCAPE, _undone), layout))


def _undone(escape: re.Match[str]) -> str:
    text = escape[0]
    if text == "''":
        return "'"
    if text[1] == "u" and len(text) > 2:
        return of_escaped_units(text)
    return "" if text[1] in "\r\n" else _CONTROLS.get(text[1], text[1])


def read_ini(source: Source) -> TextDocument:
    """Parse an INI file. A value without quotation marks that is one word in lower case, or a switch, is kept."""
    encoding = marked_encoding(source.data) or "utf-8"
    content = decode(source.data, source.name, encoding)
    segments = list[Segment]()
    for begin, finish, is_quoted in _settings(content):
        if is_quoted:
            segments += value_segments(unescaped(content, begin, finish, _QUOTE, lambda _: '"'), Layout(escape=_in_quotes))
        elif not _NAME.fullmatch(content, begin, finish):
            segments += value_segments([(content[begin:finish], begin, finish, "text")], Layout())
    return TextDocument(source, content, segments, encoding)


def _settings(content: str) -> Iterator[tuple[int, int, bool]]:
    """Yield begin and end of each value, without the comment behind it, and whether it is between quotation marks, which are outside."""
    for line in _LINE.finditer(content):
        key, sign, value = line[0].partition("=")
        if not sign or key.lstrip()[:1] in ("", "#", ";", "["):
            continue
        after, end = line.start() + len(key) + 1, line.end()
        begin = after + len(value) - len(value.lstrip())
        if quoted := _QUOTED.fullmatch(content, begin, end):
            yield *quoted.span(1), True
            continue
        comment = _COMMENT.search(content, after, end)
        text = content[begin : comment.start() if comment else end].rstrip()
        yield begin, begin + len(text), False


def _in_quotes(text: str) -> str:
    return text.replace('"', '\\"')
