"""Clients that send slowly, or nothing, neither stop the server nor use up its connections."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from specdec_cli.pipeline.translator import Translation
from specdec_cli.server import connections
from specdec_cli.server.connections import Connection, most_connections
from specdec_cli.server.guard import Limits
from tests.server.conftest import Running, leave, running

BROKEN = [
    b"\x00\xff\r\n\r\n",
    b"GET / HTTP/9\r\n\r\n",
    b"POST /translate HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n",
    b"GET /health HTTP/1.1\r\nconnection: close\r\n\r\n",
    b"A" * 200_000,
    b"GET /health HTTP/1.1\r\nhost: localhost\r\n" + b"x: y\r\n" * 30_000,
]

LARGE = 2**25
"""Characters of a response that does not fit the buffers of the system."""


@contextmanager
def connected(port: int, sent: bytes) -> Iterator[socket.socket]:
    """Open a connection and send some bytes."""
    with socket.create_connection(("127.0.0.1", port), 60) as own:
        with suppress(ConnectionError):  # the server may close it before all is sent
            own.sendall(sent)
        yield own


def received(own: socket.socket) -> bytes:
    """All that arrives until the connection is closed."""
    parts = []
    with suppress(ConnectionResetError):
        while part := own.recv(65536):
            parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("sent", [b"", b"GET /hea", b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /hea"])
def test_a_connection_without_a_complete_header_is_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.server.connections.HEADER_SECONDS", 0.2)
    monkeypatch.setattr("specdec_cli.server.run._KEEP_ALIVE", 0.2)  # after a response
    with running() as (server, _), connected(server.port, sent) as own:
        assert received(own).count(b"200 OK") == sent.count(b"\r\n\r\n")


def connections_of(protocol: str) -> ModuleType:
    """The module of connections as it is where only this library parses HTTP."""
    pytest.importorskip(protocol)
    spec = spec_from_file_location(f"connections_of_{protocol}", connections.__file__)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("importlib.util.find_spec", lambda name: spec if name == protocol else None)
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("protocol", ["httptools", "h11"])
def test_a_half_header_behind_a_request_has_the_time_of_a_header(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = connections_of(protocol)
    monkeypatch.setattr(module, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr("specdec_cli.server.run.Connection", module.Connection)
    whole = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with running() as (server, _), connected(server.port, whole) as idle:
        for requests in (1, 2):
            started = time.monotonic()
            with connected(server.port, requests * whole + b"GET /hea") as own:
                assert received(own).count(b"200 OK") == requests
            assert time.monotonic() - started < 10
        assert b"200 OK" in idle.recv(65536)
        idle.sendall(whole)  # without a half header, a connection is kept for longer
        assert b"200 OK" in idle.recv(65536)


def test_a_body_that_goes_on_after_the_response_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.server.connections.HEADER_SECONDS", 0.2)
    with running() as (server, _), leave(server.port, "/translate", b"q=", shut=False, missing=10**8) as own:
        assert own.recv(65536).startswith(b"HTTP/1.1 413")
        with suppress(ConnectionError):
            own.sendall(b"more")
        assert b"HTTP" not in received(own)


@pytest.mark.parametrize("takes", [True, False])
def test_a_client_that_does_not_take_its_response_is_disconnected(takes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.server.connections.STALL_SECONDS", 0.3)
    lost, original = threading.Event(), Connection.connection_lost

    def connection_lost(self: Connection, error: Exception | None) -> None:
        original(self, error)
        lost.set()

    monkeypatch.setattr(Connection, "connection_lost", connection_lost)
    with (
        running(lambda lines: [Translation("A" * LARGE, tokens=1, rounds=1) for _ in lines]) as (server, _),
        leave(server.port, "/translate", b"q=a&source=en&target=de", shut=False) as own,
    ):
        arrived = 0
        while takes and arrived < LARGE:
            arrived += len(own.recv(2**19))
            time.sleep(0.01)
        assert takes or lost.wait(20)
        assert (arrived >= LARGE) is takes


@pytest.mark.parametrize("pause", [0.01, 0.07])
def test_a_body_that_arrives_byte_by_byte_has_a_time_limit(pause: float) -> None:
    stopped = threading.Event()
    with running(limits=Limits(seconds=0.4)) as (server, service), leave(server.port, "/translate", b"q=", shut=False, missing=1000) as own:

        def send() -> None:
            with suppress(ConnectionError):
                while not stopped.wait(pause):
                    own.sendall(b"a")

        sending = threading.Thread(target=send)
        sending.start()
        assert server.translate("meanwhile").json == {"translatedText": "MEANWHILE"}
        answer = own.recv(65536)
        stopped.set()
        sending.join()
        assert answer.startswith(b"HTTP/1.1 408") and b"connection: close" in answer.lower() and b"within 0.4 seconds" in answer
        assert received(own) == b"" and service.in_progress == 0


def test_of_too_many_connections_the_oldest_incomplete_one_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.server.connections.most_connections", lambda: 3)
    with running() as (server, _), ExitStack() as opened:
        own = [opened.enter_context(leave(server.port, "/translate", b"q=", shut=False, missing=10)) for _ in range(5)]
        assert server.ask("GET", "/health").status == 200
        assert received(own[0]) == received(own[1]) == b""
        own[4].sendall(b"a&source=e")
        assert own[4].recv(1000).startswith(b"HTTP/1.1 400")


def test_of_many_connections_only_the_oldest_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Connection] = []

    def is_incomplete(self: Connection) -> bool:
        seen.append(self)
        return True

    monkeypatch.setattr("specdec_cli.server.connections.most_connections", lambda: 20)
    monkeypatch.setattr(Connection, "is_incomplete", property(is_incomplete))
    with running() as (server, _), ExitStack() as opened:
        own = [opened.enter_context(connected(server.port, b"")) for _ in range(40)]
        assert [received(each) for each in own[:20]] == [b""] * 20
        assert len(seen) < 40


@pytest.mark.parametrize(
    ("codings", "status"), [(["chunked"], b"200"), (["Chunked"], b"200"), (["gzip, chunked"], b"501"), (["gzip", "chunked"], b"501")]
)
def test_bodies_in_other_transfer_codings_are_refused(server: Running, codings: list[str], status: bytes) -> None:
    headers = "".join(f"transfer-encoding: {coding}\r\n" for coding in codings)
    sent = f"POST /translate HTTP/1.1\r\nhost: localhost\r\n{headers}connection: close\r\n\r\n17\r\nq=a&source=en&target=de\r\n0\r\n\r\n"
    with connected(server.port, sent.encode()) as own:
        answer = received(own)
    assert answer.startswith(b"HTTP/1.1 " + status) and (b"'gzip, chunked' is not supported" in answer) == (status == b"501")


def test_connections_leave_files_for_the_rest() -> None:
    assert 0 < most_connections() <= 2000


def test_requests_that_are_not_complete_do_not_delay_the_end(caplog: pytest.LogCaptureFixture) -> None:
    with ExitStack() as opened:
        with running() as (server, service):
            own = opened.enter_context(leave(server.port, "/translate", b"q=", shut=False, missing=10))
            half = opened.enter_context(connected(server.port, b"GET /hea"))
            assert server.ask("GET", "/health").status == 200
            assert service.in_progress == 0
        assert received(own) == received(half) == b""
    assert "Cancel" not in caplog.text


@pytest.mark.parametrize("sent", BROKEN)
def test_broken_requests_are_refused(server: Running, sent: bytes) -> None:
    with connected(server.port, sent) as own:
        assert received(own)[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 421")
    assert server.translate("still here").json == {"translatedText": "STILL HERE"}


def test_unfinished_requests_do_no_harm(server: Running) -> None:
    for body in (b"", b"q=a", b"q=a&source=en&target=de"):
        leave(server.port, "/translate", body, missing=1)
    assert server.translate("still here").json == {"translatedText": "STILL HERE"}
