"""Fields of a form that is sent as multipart/form-data (RFC 7578)."""

import re

from specdec_cli.server.request_error import RequestError

_MOST_PARTS = 64
_LONGEST_HEAD = 1000
_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))', re.IGNORECASE)
_NAME = re.compile(r'^content-disposition:\s*form-data;(?:[^\r\n]*;)?\s*name=(?:"([^"\r\n]*)"|([^\s;"]+))', re.IGNORECASE | re.MULTILINE)
_ENCODED = re.compile(r"^content-transfer-encoding:\s*(?!7bit|8bit|binary)", re.IGNORECASE | re.MULTILINE)


def read_form_data(kind: str, body: bytes) -> list[tuple[str, str]]:
    """Return the names and texts of the parts of `body`; `kind` is the header Content-Type, with the boundary.

    Parts in parts are not read. Raises RequestError for a body that is not such a form, of more than 64 parts, with
    headers of a part of more than 1000 bytes, or that is not UTF-8.
    """
    found = _BOUNDARY.search(kind)
    if found is None:
        raise RequestError(400, "the form is not valid: its header Content-Type has no boundary")
    boundary = (found[1] or found[2]).encode("latin-1")
    _, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary, _MOST_PARTS + 1)
    if not parts or not any(part.startswith(b"--") for part in parts):
        raise RequestError(400, f"the form is not valid: it has no last boundary, or more than {_MOST_PARTS} parts")
    end = next(index for index, part in enumerate(parts) if part.startswith(b"--"))
    return [_field(part) for part in parts[:end]]


def _field(part: bytes) -> tuple[str, str]:
    head, separator, content = part.partition(b"\r\n\r\n")
    if not separator or len(head) > _LONGEST_HEAD or head[:2].strip(b" \t\r\n"):
        raise RequestError(400, f"the form is not valid: a part has no headers, or headers of more than {_LONGEST_HEAD} bytes")
    try:
        headers, text = head.decode("utf-8"), content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(400, "the form is not UTF-8") from error
    name = _NAME.search(headers)
    if name is None or _ENCODED.search(headers):
        raise RequestError(400, "the form is not valid: a part has no name, or is encoded")
    return name[1] if name[1] is not None else name[2], text
