"""Errors that a client of the server can cause, each with its HTTP status."""

from collections.abc import Mapping


class RequestError(Exception):
    """An error that is reported to the client: the HTTP status, a message of one sentence, and additional headers."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


class ClientLeft(Exception):
    """An error: the client closed its connection before the response was sent."""
