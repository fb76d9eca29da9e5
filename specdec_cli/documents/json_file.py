"""JSON: the strings that are values are texts, as in the messages of programs (also `.arb`); keys are kept.

What describes messages, values of keys that begin with "@" or "$", is kept too, but for the language of `.arb`, which becomes the target's.
"""

import json
import re
from collections.abc import Iterator

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.reading import decode, marked_encoding
from specdec_cli.documents.segments import Layout
from specdec_cli.documents.values import unescaped, value_segments
from specdec_cli.errors import InputError

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)"|[{}\[\]]')
_COLON = re.compile(r"\s*:")
_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.")
_DESCRIPTIONS = ("@", "$")
_LOCALE = re.compile(r'"@@locale"\s*:\s*"([\w-]+)"')


def read_json(source: Source) -> TextDocument:
    """Parse a JSON file. Raises InputError, naming the line, for a malformed one.

    An output has escapes for characters that are not in ASCII if the file has only such escapes.
    """
    encoding = marked_encoding(source.data) or "utf-8"
    content = decode(source.data, source.name, encoding)
    text = content.removeprefix("\ufeff")
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise InputError(f"{source.name}, line {error.lineno}: not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise InputError(f"{source.name}: nested too deeply") from error
    ascii_only = text.isascii() and "\\u" in text
    layout = Layout(escape=lambda text: in_double_quotes(text, ascii_only=ascii_only))
    segments = [
        segment
        for begin, finish in _values(content)
        for segment in value_segments(unescaped(content, begin, finish, _ESCAPE, _undone), layout)
    ]
    return TextDocument(source, content, segments, encoding, stated=(each.span(1) for each in _LOCALE.finditer(content)))


def in_double_quotes(text: str, *, ascii_only: bool = False) -> str:
    """`text` as it is between the quotation marks of JSON, and of YAML."""
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _undone(escape: re.Match[str]) -> str:
    return str(json.loads(f'"{escape[0]}"'))


def _values(content: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each string that is a value, between its quotation marks."""
    depth, kept, key = 0, -1, ""
    for match in _TOKEN.finditer(content):
        if match[0] in ("{", "["):
            if kept < 0 and key.startswith(_DESCRIPTIONS):
                kept = depth
            depth, key = depth + 1, ""
        elif match[0] in ("}", "]"):
            depth -= 1
            kept = -1 if depth == kept else kept
        elif _COLON.match(content, match.end()):
            key = match[1]
        elif kept < 0 and not key.startswith(_DESCRIPTIONS):
            yield match.span(1)
