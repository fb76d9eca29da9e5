"""Files in memory that clients may fetch for some time."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class KeptFile:
    """A file with the name that clients see, and the time of the clock at which it is forgotten."""

    name: str
    data: bytes
    until: float


class KeptFiles:
    """Files that are kept for `seconds` and have at most `most_bytes` in all; the oldest are forgotten first.

    No file is written to a disk, so none remains when the process ends. `clock` returns seconds.
    """

    def __init__(self, seconds: float, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._most, self._clock = seconds, most_bytes, clock
        self._files: dict[str, KeptFile] = {}

    def add(self, name: str, data: bytes) -> str:
        """Keep a file, and return its token: without that, nobody can fetch it."""
        token = secrets.token_hex(16)
        self._files[token] = KeptFile(name, data, self._clock() + self._seconds)
        while len(self._files) > 1 and sum(len(each.data) for each in self._files.values()) > self._most:
            del self._files[next(iter(self._files))]
        return token

    def get(self, token: str) -> KeptFile | None:
        """The file of a token; None if there is none any more."""
        self.forget_old()
        return self._files.get(token)

    def forget_old(self) -> None:
        """Forget the files whose time is over."""
        now = self._clock()
        self._files = {token: each for token, each in self._files.items() if each.until > now}
