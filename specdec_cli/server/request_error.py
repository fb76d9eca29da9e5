"""Errors that a client of the server can cause, each with its HTTP status."""

from collections.abc import Mapping

from starlette.responses import JSONResponse, PlainTextResponse, Response

_LONGEST = 300


class RequestError(Exception):
    """An error that is reported to the client: the HTTP status, a message of one sentence, and additional headers."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


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
