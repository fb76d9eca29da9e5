"""Fields of a request, from its query, a form or a JSON object."""

import asyncio
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from specdec_cli.server.form_data import read_form_data
from specdec_cli.server.keys import Keys
from specdec_cli.server.limits import Limits
from specdec_cli.server.request_error import RequestError

BYTES_PER_CHARACTER = 12
"""The most bytes of a character in a form: four bytes of UTF-8, each written as %XX."""
_MOST_FIELDS = 10_000
_UNUSABLE = re.compile("[\0\ud800-\udfff]")
_OVERHEAD = 2**16
_MOST_DROPPED = 2**26
CLOSE = {"Connection": "close"}
"""The header of responses to requests whose body is not read to its end."""


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
        raise RequestError(408, f"the request did not arrive within {limits.seconds:g} seconds", CLOSE) from error
    kind = request.headers.get("content-type", "")
    if kind.lower().startswith("multipart/form-data"):
        return _grouped(read_form_data(kind, body, files))
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(400, "the body is not UTF-8") from error
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
        raise RequestError(413, f"the body has more than {most} bytes", CLOSE)
    return b"".join(chunks)


def _json_object(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(400, "the body is not valid JSON") from error
    return {name: value for name, value in found.items() if value is not None}


def _pairs(text: str) -> list[tuple[str, str]]:
    if not text:
        return []
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise RequestError(400, "the form is not valid") from error


def _grouped(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found
