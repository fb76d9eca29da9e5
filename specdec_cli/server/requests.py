"""Requests: their fields, from the query, a form or a JSON object."""

import asyncio
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

from starlette.requests import Request

from specdec_cli.errors import counted
from specdec_cli.server.guard import CLOSE, Keys, Limits, RequestError

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
    match = _BOUNDARY.search(kind)
    if match is None:
        raise RequestError(400, "the form is not valid: its header Content-Type has no boundary")
    boundary = (match[1] or match[2]).encode("latin-1")
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
    match = pattern.search(headers)
    return None if match is None else match[1] if match[1] is not None else match[2]


def _file_name(headers: str) -> str:
    """The name of the file of a part, "" if it has none; that in UTF-8 (RFC 5987) comes first."""
    encoded = _ENCODED_FILE.search(headers)
    return unquote(encoded[1]) if encoded is not None else _value(_FILE, headers) or ""


BYTES_PER_CHARACTER = 12
"""The most bytes of a character in a form: four bytes of UTF-8, each written as %XX."""
_MOST_FIELDS = 10_000
_UNUSABLE = re.compile("[\0\ud800-\udfff]")
_OVERHEAD = 2**16
_MOST_DROPPED = 2**26


async def read_fields(
    request: Request, limits: Limits, keys: Keys, files: Collection[str] = (), most_bytes: int | None = None
) -> dict[str, Any]:
    """Return the fields of a request's query and body; a field that a form repeats has a list of its values.

    The body may be a JSON object or a form, whatever its header says, because some clients send forms under the name
    of JSON. Fields that are null in JSON are left out. Parts of a multipart form whose names are in `files` are of the type Upload.
    The body has `most_bytes` at most (None: what the text of a request may have). Raises RequestError for a body that is too large or
    neither of them, or does not arrive in time, and unless the fields or headers have one of `keys`; a body is not read if its headers
    or query have a wrong one.
    """
    # Making the object request.url would take longer than all else here. HTTP parsers refuse a query that is not ASCII.
    query = _grouped(_pairs(request.scope["query_string"].decode("ascii")))
    keys.refuse_wrong(request, query)
    most = limits.characters * BYTES_PER_CHARACTER if most_bytes is None else most_bytes
    fields = query | await _read_body(request, limits, files, most)
    keys.check(request, fields)
    return fields


async def _read_body(request: Request, limits: Limits, files: Collection[str], most_bytes: int) -> dict[str, Any]:
    try:
        async with asyncio.timeout(limits.seconds):
            body = await _body(request, most_bytes + _OVERHEAD)
    except TimeoutError as error:
        raise RequestError(408, f"the request did not arrive within {counted(limits.seconds, 'second')}", CLOSE) from error
    kind = request.headers.get("content-type", "")
    if kind.lower().startswith("multipart/form-data"):
        return _grouped(read_form_data(kind, body, files))
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(400, "the body is not UTF-8") from error
    if text.lstrip().startswith("["):
        raise RequestError(400, "Invalid request: the body is a JSON list, and an object is expected")
    return _json_object(text) if text.lstrip().startswith("{") else _grouped(_pairs(text.strip()))


def text_of(fields: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """The text of a field; `default` if it is missing. Raises RequestError if it is no text, or missing without a default."""
    value = fields.get(name, default)
    if value is None:
        raise RequestError(400, f"Invalid request: missing {name} parameter")
    return checked_text(value, name)


def checked_text(value: Any, name: str) -> str:
    """Return `value`, of the field `name`, if it is a text that can be decoded; else raise RequestError."""
    if not isinstance(value, str):
        raise RequestError(400, f"Invalid request: {name} is not a text")
    if _UNUSABLE.search(value):
        raise RequestError(400, f"Invalid request: {name} has a NUL character or half of a surrogate pair")
    return value


async def _body(request: Request, most: int) -> bytes:
    """The body of a request. Raises RequestError (413) if it has more than `most` bytes.

    Most clients read no response before they have sent the whole body; of one that is not much too long, the rest is read and dropped.
    """
    claimed = int(request.headers.get("content-length", 0))
    size = 0
    chunks: list[bytes] = []
    if claimed <= max(most, _MOST_DROPPED) and (claimed <= most or "expect" not in request.headers):
        async for chunk in request.stream():
            size += len(chunk)
            if size <= most:
                chunks.append(chunk)
            elif size > max(most, _MOST_DROPPED):
                break
    if max(size, claimed) > most:
        raise RequestError(413, f"the body has more than {counted(most, 'byte')}", CLOSE)
    return b"".join(chunks)


def _json_object(text: str) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(400, "the body is not valid JSON") from error
    return {name: value for name, value in values.items() if value is not None}


def _pairs(text: str) -> list[tuple[str, str]]:
    if not text:
        return []
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise RequestError(400, "the form is not valid") from error


def _grouped(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    groups: dict[str, Any] = {}
    for name, value in pairs:
        if name not in groups:
            groups[name] = value
        elif isinstance(groups[name], list):
            groups[name].append(value)
        else:
            groups[name] = [groups[name], value]
    return groups
