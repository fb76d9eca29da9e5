"""Errors that a client of the server can cause, each with its HTTP status."""

from collections.abc import Mapping

from starlette.responses import JSONResponse, PlainTextResponse, Response


class RequestError(Exception):
    """An error that is reported to the client: the HTTP status, a message of one sentence, and additional headers."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


class ClientLeft(Exception):
    """An error: the client closed its connection before the response was sent."""


def error_response(path: str, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The response for an error of a request for `path`, in the form that its clients expect: text for LanguageTool, else JSON."""
    if path.startswith("/v2/"):
        return PlainTextResponse(f"Error: {message}", status, headers)
    return JSONResponse({"error": message}, status, headers)
