"""Which requests are admitted: their host, origin, key and size; the errors that clients can cause; counts and logs of all requests."""

import hashlib
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specdec_cli.errors import InputError, UsageError, counted
from specdec_cli.server.monitoring import Log, RequestMetrics

CLOSE = {"Connection": "close"}
"""The header of responses to requests whose body is not read to its end."""
_LONGEST = 300


class RequestError(Exception):
    """An error that is reported to the client: the HTTP status, a message of one sentence, and additional headers."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


class OutOfTime(RequestError):
    """An error: a request was not done within the time limit of `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(503, f"not done within {counted(seconds, 'second')}; send less text", {"Retry-After": "1"})


class ClientLeft(Exception):
    """An error: the client closed its connection before the response was sent."""


def error_response(path: str, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The response for an error of a request for `path`, in the form that its clients expect: text for LanguageTool, else JSON.

    A message may quote the request; it is cut to one line of at most 300 characters.
    """
    line = " ".join(message.split())
    said = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}\u2026"
    if path.startswith("/v2/"):
        return PlainTextResponse(f"Error: {said}", status, headers)
    return JSONResponse({"error": said}, status, headers)


@dataclass(frozen=True)
class Limits:
    """Limits of the server: requests that wait or are decoded, characters of a request, and seconds of a request."""

    requests: int = 256
    characters: int = 50_000
    seconds: float = 30.0


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


ANY = "*"
_DEFAULT_PORTS = {"http": 80, "https": 443}


def read_origin(text: str) -> str:
    """The origin of a site as browsers write it in the header Origin: without the final slash and a default port.

    "*" means all sites. Raises UsageError for anything else than a scheme, a host and perhaps a port.
    """
    if text == ANY:
        return text
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").encode("idna").decode("ascii"), parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if not parts.scheme or not host or parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageError(f"'{text}' is not the address of a site: a scheme and a host are expected, as in https://example.org")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + ("" if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{port}")


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach the address `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_foreign(headers: Headers, allowed: Collection[str]) -> bool:
    """Whether a request is from a web page of a site that is neither the server's own nor among `allowed`.

    Extensions of browsers and other programs have schemes of their own and are no web pages. Requests of images and
    scripts have no Origin, but Sec-Fetch-Site. Whoever follows a link (navigates) does not let a page ask.
    """
    if ANY in allowed:
        return False
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate"
    scheme, _, place = origin.partition("://")
    is_page = scheme in _DEFAULT_PORTS or origin == "null"
    return is_page and place != headers.get("host", "").lower() and origin not in allowed


METRICS = "specdec.metrics"
"""The extension of the scope of /metrics with the metrics that are not those of the application."""
LEFT = 499
"""The status that logs and metrics have for a request whose client left, as in nginx."""
_HOST = re.compile(r"\[([^\[\]]+)\](?::\d*)?|([^\[\]:]+)(?::\d*)?")


class Gate:
    """Passes requests to `app`, and counts and logs them. Unexpected exceptions are logged here; `app` has sent the response.

    Requests of web pages of other sites than `origins` are refused. With `checks_host`, so are requests over TCP whose
    header Host names another machine: a page of another site whose name was made to point to this machine (DNS
    rebinding) cannot use the server. `paths` are the paths of the routes, which may end with a parameter (/files/{name}); requests to
    others are counted together.
    """

    def __init__(
        self,
        app: ASGIApp,
        log: Log,
        metrics: RequestMetrics,
        paths: Collection[str],
        origins: Collection[str] = (),
        *,
        checks_host: bool = True,
    ) -> None:
        self._app, self._log, self._metrics, self._paths = app, log, metrics, paths
        self._beginnings = {route.partition("{")[0]: route for route in paths if "{" in route}
        self._origins, self._checks_host = origins, checks_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request of ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.monotonic(), 0

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        if scope["path"] == "/metrics":
            scope["extensions"] = {METRICS: self._metrics.exposition()}
        try:
            self._check(scope)
            await self._app(scope, receive, observed)
        except RequestError as error:
            await error_response(scope["path"], error.status, error.message, error.headers)(scope, receive, observed)
        except ClientLeft:
            status = LEFT
        except Exception as error:
            self._log.error(error)
        finally:
            self._record(scope, status or LEFT, time.monotonic() - started)

    def _check(self, scope: Scope) -> None:
        """Raise RequestError for a request that names another host (421), is from a page of another site (403), or has a body in a
        coding that the HTTP parsers take for plain text (501).
        """
        headers = Headers(scope=scope)
        coding = ", ".join(headers.getlist("transfer-encoding"))
        if coding.strip().lower() not in ("", "chunked"):
            raise RequestError(501, f"the transfer coding '{coding}' is not supported; chunked is", CLOSE)
        host = headers.get("host", "").lower()
        match = _HOST.fullmatch(host)
        name = host if match is None else match[1] or match[2]
        is_tcp = scope.get("server") and scope["server"][1] is not None  # a Unix socket has no port
        if self._checks_host and is_tcp and not is_loopback(name):
            remedy = "name a loopback address such as localhost, or use a Unix socket or API keys"
            raise RequestError(421, f"the host '{name}' is not served here; {remedy}")
        if is_foreign(headers, self._origins):
            site = headers.get("origin", "another site")
            raise RequestError(403, f"pages of {site} may not use this server; allow its origin when the server is started")

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        path = self._route(scope["path"])
        self._metrics.count_request(path, status, seconds)
        milliseconds = round(1000 * seconds, 1)
        self._log.write("request", method=scope["method"], path=path, status=status, milliseconds=milliseconds)

    def _route(self, path: str) -> str:
        """The path of the route that a request is for, without values of parameters; "other" if there is none."""
        if path in self._paths:
            return path
        return next((route for beginning, route in self._beginnings.items() if path.startswith(beginning)), "other")
