"""Servers for the tests: one of the shipped models in a process, and ones with made-up decoders in a thread."""

import ctypes
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from specdec_cli.pipeline.corrector import Correction
from specdec_cli.pipeline.translator import Translation
from specdec_cli.server.application import make_application
from specdec_cli.server.guard import Gate, Keys, Limits
from specdec_cli.server.monitoring import Log, RequestMetrics
from specdec_cli.server.queue import BatchDecoder, Pool
from specdec_cli.server.run import listen_tcp, make_server
from specdec_cli.server.service import Pair, Service
from specdec_cli.text.edits import apply_edits, find_edits

_PATIENCE = 60.0
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass(frozen=True)
class Answer:
    """A response: status, headers by their names in small letters, and body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Running:
    """A running server at a port of this machine."""

    port: int
    pid: int = 0
    unix: Path | None = None

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: str | bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """Send a request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
        finally:
            connection.close()

    def post(self, path: str, **fields: str) -> Answer:
        """Send a form."""
        return self.ask("POST", path, urlencode(fields), {"Content-Type": "application/x-www-form-urlencoded"})

    def translate(self, text: str, **fields: str) -> Answer:
        """Ask for a translation from English to German."""
        return self.post("/translate", **({"q": text, "source": "en", "target": "de"} | fields))


def shout(lines: Sequence[str]) -> list[Translation]:
    """Translate to capital letters."""
    return [Translation(line.upper(), tokens=len(line), rounds=1) for line in lines]


class Held:
    """Translates as `shout` as soon as it may go on, and keeps the lines that it decoded."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.decoded: list[str] = []

    def __call__(self, lines: Sequence[str]) -> list[Translation]:
        self.begun.set()
        assert self.may_end.wait(_PATIENCE)
        self.decoded += lines
        return shout(lines)


def mend(lines: Sequence[str]) -> list[Correction]:
    """Correct "is" to "are", and remove "very"."""
    edits = [find_edits(line, line.replace(" is ", " are ").replace(" very", "")) for line in lines]
    return [Correction(apply_edits(line, own), tuple(own)) for line, own in zip(lines, edits, strict=True)]


@contextmanager
def running(
    translate: Callable[[Sequence[str]], Sequence[Translation]] = shout,
    limits: Limits | None = None,
    keys: Keys | None = None,
    pairs: Sequence[Pair] = (("en", "de"),),
    origins: Sequence[str] = (),
    checks_host: bool = True,
    **options: Any,
) -> Iterator[tuple[Running, Service]]:
    """Run a server that translates `pairs` of languages by `translate`, and corrects by `mend`, in a thread: the application of the worker
    process behind the gate of the front.
    """
    limits = limits or Limits()
    pool = Pool(1, limits.seconds)
    translators = {pair: BatchDecoder(translate, pool) for pair in pairs}
    service = Service(pool, translators, {"en": BatchDecoder(mend, pool)}, limits, keys or Keys(), Log(quiet=True))
    own = listen_tcp("127.0.0.1", 0)
    application, paths = make_application(service, origins, **options)
    gate = Gate(application, service.log, RequestMetrics(), paths, origins, checks_host=checks_host)
    server = make_server(gate, stop_seconds=5)
    thread = threading.Thread(target=server.run, args=([own],))
    with own, service:
        thread.start()
        try:
            yield Running(own.getsockname()[1]), service
        finally:
            server.should_exit = True
            thread.join()


def end_with_parent() -> None:
    """Let Linux end this process when the one that has started it has ended, also when that was killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGTERM)


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Run `specdec serve` with `options` in a process; yields it and the first event of its log that says where it listens."""
    command = [sys.executable, "-m", "specdec_cli", "serve", "--threads", "1", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
    try:
        assert process.stderr is not None
        events = (json.loads(line) for line in process.stderr if line.startswith("{"))
        yield process, next(event for event in events if event["event"] == "listening")
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(_PATIENCE)
        if process.stderr is not None:
            process.stderr.close()


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with the shipped models, on a port and a Unix socket."""
    path = tmp_path_factory.mktemp("server") / "socket"
    with serving("--port", "0", "--unix", str(path)) as (process, listening):
        # The log is read to its end, so that the pipe never fills.
        threading.Thread(target=lambda: [None for _ in process.stderr or ()], daemon=True).start()
        yield Running(int(listening["addresses"][0].rpartition(":")[2]), process.pid, path)


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    """A server that translates to capital letters."""
    with running() as (own, _):
        yield own


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until `condition` is true, for a minute at most."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < _PATIENCE
        time.sleep(0.01)


def leave(port: int, path: str, body: bytes, shut: bool = True, missing: int = 0) -> socket.socket:
    """Send a request, of which the last `missing` bytes do not arrive, and, with `shut`, close the connection without
    reading the response.
    """
    own = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)
    own.sendall(f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body) + missing}\r\n\r\n".encode() + body)
    if shut:
        with suppress(OSError):
            own.shutdown(socket.SHUT_RDWR)
        own.close()
    return own
