"""Limits, keys, hosts, clients that leave, unexpected errors, metrics."""

import asyncio
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from specdec_cli.errors import InputError
from specdec_cli.pipeline.translator import Translation
from specdec_cli.server import languagetool, libretranslate
from specdec_cli.server.guard import Keys, Limits, RequestError, read_keys
from specdec_cli.server.service import together
from tests.server.conftest import Held, leave, running, wait_until


def test_sizes_are_limited() -> None:
    with running(limits=Limits(characters=100)) as (server, _):
        assert server.translate("a" * 100).status == 200
        assert server.translate("a" * 101).status == 413
        assert server.post("/v2/check", text="a" * 101, language="en").status == 413
        answer = server.translate("a" * 100_000)
        assert answer.status == 413 and "bytes" in answer.json["error"]
        assert server.ask("POST", "/translate", iter([b"a" * 50_000] * 3)).status == 413  # type: ignore[arg-type]
        assert server.translate("b").json == {"translatedText": "B"}


def test_keys_are_required_where_there_are_any() -> None:
    with running(keys=Keys(frozenset({"secret-key"}))) as (server, _):
        assert server.translate("a").status == 401
        assert server.translate("a", api_key="wrong").status == 403
        assert server.translate("a", api_key="secret-key").status == 200
        assert server.post("/v2/check", text="a", language="en", apiKey="secret-key").status == 200
        assert server.post("/v2/check", text="a", language="en").body == b"Error: an API key is required"
        assert server.ask("GET", "/metrics").status == 401
        for headers in ({"Authorization": "Bearer secret-key"}, {"X-API-Key": "secret-key"}):
            assert server.ask("GET", "/metrics", headers=headers).status == 200
        assert server.ask("GET", "/health").status == server.ask("GET", "/languages").status == 200
        assert server.ask("GET", "/frontend/settings").json["keyRequired"] is True


def test_keys_of_any_characters_and_from_files_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_bytes("first-key\nschlüssel-☃\n".encode("utf-8-sig"))
    with running(keys=read_keys(path)) as (server, _):
        for key in ("first-key", "schlüssel-☃"):
            for name, value in (("X-API-Key", key), ("Authorization", f"Bearer {key}")):
                assert server.ask("GET", "/metrics", headers={name: value.encode().decode("latin-1")}).status == 200
            assert server.translate("a", api_key=key).status == 200
        assert server.ask("GET", "/metrics", headers={"X-API-Key": "\u00ff" * 9}).status == 403


def test_one_valid_key_among_several_is_enough() -> None:
    with running(keys=Keys(frozenset({"secret-key", "other-key"}))) as (server, _):
        keys = {"X-API-Key": "wrong", "Authorization": "Bearer secret-key"}
        assert server.ask("GET", "/metrics", headers=keys).status == 200
        assert server.ask("GET", "/metrics", headers=keys | {"Authorization": "Bearer wrong"}).status == 403


def test_files_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("# ours\n\nabcdefgh \n")
    assert read_keys(path).are_required
    for content, said in (("# none\n", "no key"), ("\nshort\n", "line 2"), (b"\xff", "UTF-8")):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(InputError, match=said):
            read_keys(path)


def test_a_full_queue_answers_429_with_a_time() -> None:
    held = Held()
    with running(held, Limits(requests=2)) as (server, service):
        threads = [threading.Thread(target=server.translate, args=("a",)) for _ in range(2)]
        for thread in threads:
            thread.start()
        wait_until(lambda: service.in_progress == 2)
        answer = server.translate("b")
        assert answer.status == 429 and 1 <= int(answer.headers["retry-after"]) <= 60 and "too many" in answer.json["error"]
        held.may_end.set()
        for thread in threads:
            thread.join()
        assert server.translate("b").status == 200
        assert service.in_progress == 0


def test_more_text_than_can_be_translated_in_time_is_refused_at_once() -> None:
    held = Held()
    statuses: list[int] = []
    with running(held, Limits(seconds=60)) as (server, service):

        def ask(text: str) -> threading.Thread:
            before = service.pool.backlog.requests
            thread = threading.Thread(target=lambda: statuses.append(server.translate(text).status))
            thread.start()
            wait_until(lambda: service.pool.backlog.requests == before + 1)
            return thread

        threads = [ask("a" * 50_000) for _ in range(8)]  # 10,000 characters a second are expected
        for _ in range(2):
            answer = server.translate("a" * 50_000)
            assert answer.status == 429 and "too much text" in answer.json["error"] and 40 <= int(answer.headers["retry-after"]) <= 45
        threads.append(ask("short"))
        text = server.ask("GET", "/metrics").body.decode()
        for line in ('specdec_refused_total{reason="backlog"} 2.0', "specdec_backlog_characters 400005.0", "specdec_backlog_requests 9.0"):
            assert line in text.splitlines()
        assert 40 < float(text.split("\nspecdec_backlog_seconds ")[1].split()[0]) < 45
        held.may_end.set()
        for thread in threads:
            thread.join()
        assert statuses == [200] * 9
        assert server.translate("a" * 50_000).status == 200


def test_what_is_done_together_ends_with_the_first_error() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    async def refuse() -> None:
        await asyncio.sleep(0)
        raise RequestError(429, "too much")

    async def double(number: int) -> int:
        return 2 * number

    with pytest.raises(RequestError, match="too much"):
        asyncio.run(together([wait(), refuse()]))
    assert ended == ["cancelled"]
    assert asyncio.run(together(map(double, (1, 2)))) == [2, 4]


def test_a_request_that_takes_too_long_is_ended() -> None:
    held = Held()
    with running(held, Limits(seconds=0.1)) as (server, service):
        answer = server.translate("a")
        assert answer.status == 503 and "0.1 seconds" in answer.json["error"] and "retry-after" in answer.headers
        held.may_end.set()
        wait_until(lambda: service.in_progress == 0)
        assert server.ask("GET", "/health").status == 200


def test_a_body_that_does_not_arrive_is_refused() -> None:
    with running(limits=Limits(seconds=0.1)) as (server, _), socket.create_connection(("127.0.0.1", server.port), 60) as own:
        own.sendall(b"POST /translate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nq=")
        assert own.recv(1000).startswith(b"HTTP/1.1 408")


def test_long_texts_are_prepared_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, set[str]] = {}

    def recorded(module: ModuleType, name: str) -> None:
        original = getattr(module, name)

        def call(*arguments: Any) -> Any:
            threads.setdefault(name, set()).add(threading.current_thread().name)
            return original(*arguments)

        monkeypatch.setattr(module, name, call)

    for module, name in ((languagetool, "match_of"), (languagetool, "likeliest_language"), (libretranslate, "guessed")):
        recorded(module, name)
    recorded(libretranslate, "split_html")
    text = "This is a sentence. " * 500 + "\n" * 500
    with running() as (server, _):
        assert server.post("/v2/check", text="It is very late.", language="en").status == 200
        (loop,) = threads.pop("match_of")
        threads.clear()
        assert server.translate(text).json == {"translatedText": text.upper()}
        assert server.translate(text, source="auto", format="html").json["translatedText"] == text.upper()
        assert len(server.post("/v2/check", text=text.replace(" a ", " very "), language="en").json["matches"]) == 500
        assert len(threads) == 4 and loop not in set().union(*threads.values())


def test_what_a_client_that_left_asked_for_is_not_decoded() -> None:
    held = Held()
    with running(held) as (server, service):
        first = leave(server.port, "/translate", b"q=first&source=en&target=de", shut=False)
        assert held.begun.wait(60)
        second = leave(server.port, "/translate", b"q=second&source=en&target=de", shut=False)
        wait_until(lambda: service.in_progress == 2)
        second.close()
        wait_until(lambda: service.in_progress == 1)
        assert server.ask("GET", "/health").status == 200  # the event loop has cancelled the second request by then
        held.may_end.set()
        assert first.recv(1000).startswith(b"HTTP/1.1 200")
        first.close()
        assert server.translate("third").status == 200
        assert held.decoded == ["first", "third"]
        text = server.ask("GET", "/metrics").body.decode()
        assert 'specdec_requests_total{path="/translate",status="499"} 1.0' in text


def test_an_unexpected_error_is_a_500_and_the_server_goes_on(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*lines: Sequence[str]) -> list[Translation]:
        raise RuntimeError(f"nothing works, {len(lines)}")

    with running(fail) as (server, service):
        answer = server.translate("secret words")
        assert (answer.status, answer.json, server.ask("GET", "/health").status) == (500, {"error": "internal error"}, 200)
        monkeypatch.setattr(service, "correct", fail)
        answer = server.post("/v2/check", text="secret words", language="en")
        assert (answer.status, answer.body) == (500, b"Error: internal error")
    logged = capfd.readouterr().err
    assert "nothing works" in logged and "secret words" not in logged


def test_metrics_count_requests_characters_and_tokens() -> None:
    with running() as (server, _):
        server.translate("four")
        server.ask("GET", "/nothing")
        text = server.ask("GET", "/metrics").body.decode()
    for line in (
        'specdec_requests_total{path="/translate",status="200"} 1.0',
        'specdec_requests_total{path="other",status="404"} 1.0',
        'specdec_characters_total{task="translate"} 4.0',
        'specdec_tokens_total{task="translate"} 4.0',
        "specdec_requests_in_progress 0.0",
    ):
        assert line in text.splitlines()
