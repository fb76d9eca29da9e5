"""Fields of a form that is sent as multipart/form-data (RFC 7578)."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote

from specdec_cli.server.request_error import RequestError

_MOST_PARTS = 64
_LONGEST_HEAD = 1000
_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))', re.IGNORECASE)
_DISPOSITION = r"^content-disposition:\s*form-data;(?:[^\r\n]*;)?\s*"
_FLAGS = re.IGNORECASE | re.MULTILINE
_NAME = re.compile(rf'{_DISPOSITION}name=(?:"([^"\r\n]*)"|([^\s;"]+))', _FLAGS)
_FILE = re.compile(rf'{_DISPOSITION}filename=(?:"([^"\r\n]*)"|([^\s;"]+))', _FLAGS)
_ENCODED_FILE = re.compile(rf"{_DISPOSITION}filename\*=utf-8'[^']*'([^\s;\"]+)", _FLAGS)
_ENCODED = re.compile(r"^content-transfer-encoding:\s*(?!7bit|8bit|binary)", _FLAGS)


@dataclass(frozen=True)
class Upload:
    """A file in a form: its name on the client's machine, and its bytes."""

    name: str
    data: bytes


def read_form_data(kind: str, body: bytes, files: Collection[str] = ()) -> list[tuple[str, str | Upload]]:
    """Return the names and texts of the parts of `body`; `kind` is the header Content-Type, with the boundary.

    Parts whose name is in `files` are returned as an Upload. Parts in parts are not read. Raises RequestError for a body that is not
    such a form, of more than 64 parts, with headers of a part of more than 1000 bytes, or whose text is not UTF-8.
    """
    found = _BOUNDARY.search(kind)
    if found is None:
        raise RequestError(400, "the form is not valid: its header Content-Type has no boundary")
    boundary = (found[1] or found[2]).encode("latin-1")
    _, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary, _MOST_PARTS + 1)
    if not parts or not any(part.startswith(b"--") for part in parts):
        raise RequestError(400, f"the form is not valid: it has no last boundary, or more than {_MOST_PARTS} parts")
    end = next(index for index, part in enumerate(parts) if part.startswith(b"--"))
    return [_field(part, files) for part in parts[:end]]


def _field(part: bytes, files: Collection[str]) -> tuple[str, str | Upload]:
    head, separator, content = part.partition(b"\r\n\r\n")
    if not separator or len(head) > _LONGEST_HEAD or head[:2].strip(b" \t\r\n"):
        raise RequestError(400, f"the form is not valid: a part has no headers, or headers of more than {_LONGEST_HEAD} bytes")
    try:
        headers = head.decode("utf-8")
        name = _value(_NAME, headers)
        if name is None or _ENCODED.search(headers):
            raise RequestError(400, "the form is not valid: a part has no name, or is encoded")
        return name, Upload(_file_name(headers), content) if name in files else content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(400, "the form is not UTF-8") from error


def _value(pattern: re.Pattern[str], headers: str) -> str | None:
    found = pattern.search(headers)
    return None if found is None else found[1] if found[1] is not None else found[2]


def _file_name(headers: str) -> str:
    """The name of the file of a part, "" if it has none; that in UTF-8 (RFC 5987) comes first."""
    encoded = _ENCODED_FILE.search(headers)
    return unquote(encoded[1]) if encoded is not None else _value(_FILE, headers) or ""
