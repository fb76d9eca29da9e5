"""The outermost layer of the application: checks of host and origin, metrics, logs, and unexpected errors."""

import re
import time
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specdec_cli.server.fields import CLOSE
from specdec_cli.server.listening import is_loopback
from specdec_cli.server.origins import is_foreign
from specdec_cli.server.request_error import ClientLeft, RequestError, error_response
from specdec_cli.server.service import Service

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
        self, app: ASGIApp, service: Service, paths: Collection[str], origins: Collection[str] = (), *, checks_host: bool = True
    ) -> None:
        self._app, self._service, self._paths = app, service, paths
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

        try:
            self._check(scope)
            await self._app(scope, receive, observed)
        except RequestError as error:
            await error_response(scope["path"], error.status, error.message, error.headers)(scope, receive, observed)
        except ClientLeft:
            status = LEFT
        except Exception as error:
            self._service.log.error(error)
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
        found = _HOST.fullmatch(host)
        name = host if found is None else found[1] or found[2]
        is_tcp = scope.get("server") and scope["server"][1] is not None  # a Unix socket has no port
        if self._checks_host and is_tcp and not is_loopback(name):
            remedy = "name a loopback address such as localhost, or use a Unix socket or API keys"
            raise RequestError(421, f"the host '{name}' is not served here; {remedy}")
        if is_foreign(headers, self._origins):
            site = headers.get("origin", "another site")
            raise RequestError(403, f"pages of {site} may not use this server; allow its origin when the server is started")

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        path = self._route(scope["path"])
        self._service.metrics.count_request(path, status, seconds)
        milliseconds = round(1000 * seconds, 1)
        self._service.log.write("request", method=scope["method"], path=path, status=status, milliseconds=milliseconds)

    def _route(self, path: str) -> str:
        """The path of the route that a request is for, without values of parameters; "other" if there is none."""
        if path in self._paths:
            return path
        return next((route for beginning, route in self._beginnings.items() if path.startswith(beginning)), "other")
