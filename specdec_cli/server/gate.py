"""The outermost layer of the application: checks of the host, metrics, logs, and unexpected errors."""

import time
from collections.abc import Container

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specdec_cli.server.request_error import ClientLeft
from specdec_cli.server.service import Service

LEFT = 499
"""The status that logs and metrics have for a request whose client left, as in nginx."""
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Gate:
    """Passes requests to `app`, counts and logs them, and turns unexpected exceptions into the status 500.

    With `hosts`, requests over TCP whose header Host names another host are refused: a page of another site whose
    name was made to point to this machine (DNS rebinding) cannot use the server. `paths` are the paths of the routes;
    requests to others are counted together.
    """

    def __init__(self, app: ASGIApp, service: Service, paths: Container[str], hosts: Container[str] | None = None) -> None:
        self._app, self._service, self._paths, self._hosts = app, service, paths, hosts

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
            if self._is_refused(scope):
                await JSONResponse({"error": "this host name is not served"}, 421)(scope, receive, observed)
            else:
                await self._app(scope, receive, observed)
        except ClientLeft:
            status = LEFT
        except Exception as error:
            self._service.log.error(error)
            if not status:
                await JSONResponse({"error": "internal error"}, 500)(scope, receive, observed)
        finally:
            self._record(scope, status or LEFT, time.monotonic() - started)

    def _is_refused(self, scope: Scope) -> bool:
        if self._hosts is None or not scope.get("server") or scope["server"][1] is None:  # a Unix socket has no port
            return False
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        return host.lower().rpartition(":")[0] not in self._hosts and host.lower() not in self._hosts

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        self._service.metrics.count_request(path, status, seconds)
        milliseconds = round(1000 * seconds, 1)
        self._service.log.write("request", method=scope["method"], path=path, status=status, milliseconds=milliseconds)
