"""Limits of the server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of the server: requests that wait or are decoded, characters of a request, and seconds of a request."""

    requests: int = 256
    characters: int = 50_000
    seconds: float = 30.0
