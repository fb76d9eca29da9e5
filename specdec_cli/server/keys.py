"""Keys of clients, read from a file."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request

from specdec_cli.errors import InputError
from specdec_cli.server.request_error import RequestError

_FIELDS = ("api_key", "apiKey")


class Keys:
    """The keys that clients may have, one of which each request must name; without any, none is needed."""

    def __init__(self, keys: frozenset[str] = frozenset()) -> None:
        # Digests, so that the time of a comparison says nothing about a key.
        self._digests = frozenset(_digest(key.encode()) for key in keys)

    @property
    def are_required(self) -> bool:
        """Whether requests need a key."""
        return bool(self._digests)

    def check(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Raise RequestError unless a valid key is in the header Authorization (Bearer) or X-API-Key, or in the field
        api_key (LibreTranslate) or apiKey (LanguageTool).
        """
        if not self._digests:
            return
        if not any(_named(request, fields)):
            raise RequestError(401, "an API key is required", {"WWW-Authenticate": "Bearer"})
        self.refuse_wrong(request, fields)

    def refuse_wrong(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Raise RequestError if the headers or `fields` have a key, but not a valid one."""
        if not self._digests:
            return
        named = [key for key in _named(request, fields) if key]
        if named and not any(_digest(key) in self._digests for key in named):
            raise RequestError(403, "Invalid API key")


def read_keys(path: Path) -> Keys:
    """Read keys from a file: one a line, of at least 8 characters; blank lines and lines that begin with # are not keys.

    Raises InputError for a shorter key, a file that is not UTF-8, and one without keys.
    """
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if line and not line.startswith("#") and len(line) < 8:
            raise InputError(f"{path}, line {number}: a key of fewer than 8 characters")
    keys = frozenset(line for line in lines if line and not line.startswith("#"))
    if not keys:
        raise InputError(f"{path}: holds no key")
    return Keys(keys)


def _named(request: Request, fields: Mapping[str, Any]) -> list[bytes]:
    """The keys that a request has, in UTF-8, some of which may be empty."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    headers = [token.strip() if scheme.lower() == "bearer" else "", request.headers.get("x-api-key", "")]
    named = [value for name in _FIELDS if isinstance(value := fields.get(name), str)]
    # The bytes of headers were decoded as Latin-1.
    return [*(key.encode("latin-1") for key in headers), *(key.encode("utf-8", "surrogatepass") for key in named)]


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
