"""Requests that make no sense are answered with an error of the client and a sentence, or not at all; never with status 500."""

import json
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote_from_bytes

import pytest

from specdec_cli.server.guard import Limits
from tests.server.conftest import Answer, Running, running

PATHS = (
    *("/translate", "/translate_file", "/download_file/x", "/detect", "/languages", "/frontend/settings", "/v2/check", "/v2/languages"),
    *("/health", "/metrics", "/", "/show", "/v2", "/v2/", "/nothing", "//", "/translate/", "/%00", "/download_file/", "/..%2f"),
)
FIELDS = (
    *("q", "source", "target", "format", "alternatives", "file", "api_key"),
    *("text", "data", "language", "disabledRules", "enabledOnly", "apiKey", "task"),
)
SINGLE = (None, True, -1, 5, 1e308, 10**400, "", "en", "de", "auto", "a", "\0", "\ud800", "😀" * 9, "html", "-1", "9" * 5000)
DEEP = json.loads("[" * 200 + "]" * 200)
NESTED: tuple[Any, ...] = ([], ["a", 5], [["a"]], {}, {"annotation": [{"text": 1}]}, DEEP, ["a"] * 999, '{"annotation": [{"markup": ""}]}')
METHODS = ("POST", "POST", "POST", "POST", "GET", "HEAD", "PUT", "OPTIONS", "DELETE")
KINDS = (
    *("application/json", "application/x-www-form-urlencoded", "text/plain", "\xff"),
    *("multipart/form-data; boundary=x", "multipart/form-data"),
)
BROKEN = (b"", b"{", b"\xff\xfe", b"[" * 9999, b'{"a":' * 9999)


def garbage(generator: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    """The method, path, body and headers of a request."""
    chosen = {name: generator.choice([*SINGLE, *NESTED]) for name in generator.sample(FIELDS, generator.randint(0, 5))}
    if generator.random() < 0.5:  # nearly a valid request
        chosen = {"q": "a", "text": "We is", "source": "en", "target": "de", "language": "en"} | chosen
    form = "&".join(f"{name}={quote_from_bytes(str(value).encode('utf-8', 'surrogatepass'))}" for name, value in chosen.items()).encode()
    parts = [f'--x\r\nContent-Disposition: form-data; name="{name}"; filename="a.md"\r\n\r\n{value}\r\n' for name, value in chosen.items()]
    multipart = "".join([*parts, "--x--"]).encode("utf-8", "surrogatepass")
    body = generator.choice([json.dumps(chosen).encode(), form, form, multipart, *BROKEN])
    if generator.random() < 0.3:
        body = bytes(byte if generator.random() < 0.98 else generator.randrange(256) for byte in body)
    headers = {"Content-Type": generator.choice(KINDS)} if generator.random() < 0.8 else {}
    query = generator.choice(["", "", "?q=%ff", "?" + "&".join("a=b" for _ in range(2000)), "?source=en&q=a&q=b", "?=&&=%"])
    return generator.choice(METHODS), generator.choice(PATHS) + query, body, headers


def problem(path: str, answer: Answer) -> str | None:
    """What is wrong with an answer; None if nothing is."""
    if answer.status >= 500:
        return f"status {answer.status}"
    if answer.status < 400 or not answer.body:
        return None
    said = answer.body.decode() if path.startswith("/v2/") else answer.json["error"]
    return None if isinstance(said, str) and 0 < len(said) < 310 and "Traceback" not in said and "\n" not in said else f"says {said!r}"


def test_random_requests_are_refused_with_a_sentence() -> None:
    with running(limits=Limits(characters=5000, seconds=5.0)) as (server, service):
        wrong = []
        for seed in range(400):
            method, path, body, headers = garbage(random.Random(seed))
            found = problem(path, server.ask(method, path, body, headers))
            wrong += [] if found is None else [f"seed {seed}: {method} {path} {headers} {body[:200]!r}: {found}"]
        assert wrong == []
        assert service.in_progress == 0 and server.translate("b").json == {"translatedText": "B"}


@contextmanager
def connected(server: Running) -> Iterator[socket.socket]:
    """A connection to a server."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as own:
        yield own


HEAD = b"POST /translate HTTP/1.1\r\nhost: localhost\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\0" * 100, b"400"),
        (b"GET\r\n\r\n", b"400"),
        (HEAD + b"\r\n", b"400"),  # no length: no body
        (HEAD + b"content-length: x\r\n\r\nq=a", b"400"),
        (HEAD + b"content-length: -1\r\n\r\nq=a", b"400"),
        (HEAD + b"content-length: 1" + b"0" * 30 + b"\r\n\r\nq=a", b"400"),
        (HEAD + b"content-length: 3\r\ncontent-length: 4\r\n\r\nq=ab", b"400"),
        (HEAD + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\nq=a", b"400"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\nq=a\r\n", b"400"),
        (HEAD + b"expect: 100-continue\r\ncontent-length: 3\r\nconnection: close\r\n\r\nq=a", b"100"),
        (b"POST /translate HTTP/1.0\r\ncontent-length: 3\r\n\r\nq=a", b"421"),  # no host
        (b"POST http://[/translate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\nq=a", b"400"),
        (b"POST /translate?q=\xc3\xa9 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n", b"400"),
        (b"POST /translate HTTP/1.1\r\nhost: \xff\r\ncontent-length: 0\r\n\r\n", b"421"),
        (b"POST /translate HTTP/1.1\r\nhost: localhost\r\norigin: \xff://\r\ncontent-length: 0\r\n\r\n", b"400"),
    ],
    ids=lambda value: repr(value)[-40:],
)
def test_malformed_http_is_refused(server: Running, sent: bytes, status: bytes) -> None:
    with connected(server) as own:
        own.sendall(sent)
        own.settimeout(20)
        answer = own.recv(65536)
    assert answer.split()[1] == status, answer
    assert server.translate("b").status == 200


@pytest.mark.parametrize("path", ["/translate", "/translate_file", "/v2/check", "/detect", "/show"])
def test_a_slow_body_is_refused_in_time(path: str) -> None:
    with running(limits=Limits(seconds=0.3)) as (server, service), connected(server) as own:
        own.sendall(f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nq=".encode())
        answer = b"".join(iter(lambda: own.recv(65536), b""))
        assert answer.split()[1] == b"408" and b"did not arrive within 0.3 seconds" in answer
        assert service.in_progress == 0
