"""The ASGI application: all routes, and the form of error messages. In `specdec serve` the worker process runs it (see `worker`)."""

from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from specdec_cli.server.documents import FileTranslation
from specdec_cli.server.guard import METRICS, ClientLeft, RequestError, error_response
from specdec_cli.server.languagetool import LanguageTool, ListedWords
from specdec_cli.server.libretranslate import LibreTranslate
from specdec_cli.server.monitoring import CONTENT_TYPE
from specdec_cli.server.page import Page, Showing
from specdec_cli.server.service import Service
from specdec_cli.server.specification import Specification
from specdec_cli.version import __version__


def make_application(
    service: Service, origins: Sequence[str] = (), showings: Mapping[str, Showing] | None = None
) -> tuple[ASGIApp, list[str]]:
    """Make the application of `service`; `showings` are what the page shows (see Page). Returns it and the paths of its routes.

    Pages of the sites `origins` (see `read_origin`) may use it from a browser. It belongs behind a Gate.
    """
    routes = [  # those of the most requests first
        *LibreTranslate(service).routes(),
        *LanguageTool(service).routes(),
        *ListedWords(service).routes(),
        *Page(service, showings or {}).routes(),
        *FileTranslation(service).routes(),
        *Specification(service).routes(),
        Route("/health", _Health(service).health),
        Route("/metrics", _Health(service).metrics),
    ]
    # Before a page of the internet uses a server of this machine, Chrome asks whether the server allows that.
    cors = Middleware(
        CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"], allow_headers=["*"], allow_private_network=True
    )
    errors = {RequestError: _report, HTTPException: _report, ClientDisconnect: _left, Exception: _report}
    application = Starlette(routes=routes, middleware=[cors] if origins else [], exception_handlers=errors)
    return application, [route.path for route in routes]


class _Health:
    """The routes for those who run the server."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def health(self, _: Request) -> JSONResponse:
        """Say whether all threads that decode run: the status is 200, else 503."""
        works = self._service.pool.is_alive
        answer = {"status": "ok" if works else "failed", "version": __version__, **self._service.languages}
        return JSONResponse(answer, 200 if works else 503)

    async def metrics(self, request: Request) -> Response:
        """Report the metrics."""
        self._service.keys.check(request, request.query_params)
        others: bytes = request.scope.get("extensions", {}).get(METRICS, b"")
        return Response(others + self._service.metrics.exposition(), headers={"Content-Type": CONTENT_TYPE})


async def _report(request: Request, error: Exception) -> Response:
    """Report an error; one that is not expected as an internal one, of which nothing else is said."""
    if isinstance(error, RequestError):
        status, message, headers = error.status, error.message, error.headers
    elif isinstance(error, HTTPException):
        status, message, headers = error.status_code, error.detail, dict(error.headers or {})
    else:
        status, message, headers = 500, "internal error", {}
    return error_response(request.url.path, status, message, headers)


async def _left(_: Request, error: Exception) -> Response:
    raise ClientLeft from error
