"""The command: plain errors, sockets, signals, logs."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from specdec_cli.errors import UsageError
from specdec_cli.opening.models import ModelChoice
from specdec_cli.server.guard import is_loopback
from specdec_cli.server.run import listen_tcp, listen_unix, make_server, stopped_by_signals, unix_socket
from specdec_cli.server.service import Words
from specdec_cli.text.glossary import Glossary, Term
from specdec_cli.work.served_models import words_of_models
from tests.command_line import run
from tests.faults.process_tree import descendants, wait_for_end
from tests.server.conftest import Running, end_with_parent, serving, wait_until


def fails(*options: str) -> tuple[int, str]:
    result = run("serve", *options)
    return result.exit_code, result.stderr


def test_errors_are_plain(tmp_path: Path, bundle_folder: Path) -> None:
    code, said = fails("--host", "0.0.0.0")
    assert code == 2 and "--keys" in said
    code, said = fails("--allow-origin", "example.org")
    assert code == 2 and "https://example.org" in said
    code, said = fails("--time-limit", "inf")
    assert code == 2 and "86400" in said
    code, said = fails("--keys", str(tmp_path / "none"))
    assert code == 3 and "none" in said
    code, said = fails("-m", "nothing", "--port", "0")
    assert code == 3 and "nothing" in said
    code, said = fails("-m", str(bundle_folder), "-m", str(bundle_folder), "--port", "0")
    assert code == 2 and "already" in said
    code, said = fails("-m", str(bundle_folder), "--ignore", "word", "--port", "0")
    assert code == 2 and "a model that corrects" in said and "loaded" not in said
    code, said = fails("-m", "en-gec", "--keep", "word", "--port", "0")
    assert code == 2 and "translate: none" in said and "loaded" not in said
    code, said = fails("--ignore-category", "nothing")
    assert code == 2 and "SPELL" in said
    code, said = fails("--glossary", str(tmp_path / "none"))
    assert code == 3 and "none" in said
    code, said = fails("-m", "en-gec", "--decoding", "specdec", "--port", "0")
    assert code == 2 and said.startswith("specdec: error: en-gec: decoding specdec: this bundle has no drafter; it supports greedy,")
    file = tmp_path / "file"
    file.touch()
    code, said = fails("--unix", str(file))
    assert code == 2 and "not a socket" in said and file.exists()


def test_words_are_checked_against_the_models_that_use_them(tmp_path: Path) -> None:
    def model(task: str, order: str) -> ModelChoice:
        folder = tmp_path / f"{task} {order}"
        (folder / "verifier").mkdir(parents=True)
        (folder / "bundle.json").write_text(json.dumps({"format": 1, "task": task}), encoding="utf-8")
        (folder / "verifier" / "config.json").write_text(json.dumps({"vocabulary_size": 8, "order": order}), encoding="utf-8")
        return ModelChoice(str(folder))

    words, ordinary, folded = Words(Glossary([Term("a", "b")])), model("translate", "left-to-right"), model("correct", "right-to-left")
    assert words_of_models(words, [ordinary, folded]) == [words, words]
    with pytest.raises(UsageError, match="from left to right"):
        words_of_models(words, [model("translate", "right-to-left")])
    with pytest.raises(UsageError, match="one model that translates"):
        words_of_models(words, [ordinary, ordinary])


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specdec_cli.commands.serve.find_spec", lambda name: None if name == "uvicorn" else object())
    code, said = fails()
    assert code == 2 and "serve needs uvicorn: " in said and "specdec[server]" in said


def test_addresses_of_this_machine() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1", "example.org")] == [
        *[True] * 4,
        *[False] * 4,
    ]


def test_ports_and_sockets_in_use_are_reported(tmp_path: Path) -> None:
    with listen_tcp("127.0.0.1", 0) as own, pytest.raises(UsageError, match="in use"):
        listen_tcp("127.0.0.1", own.getsockname()[1])
    path = tmp_path / "socket"
    with listen_unix(path), pytest.raises(UsageError, match="another program listens"):
        listen_unix(path)
    listen_unix(path).close()  # the first one was left behind, and is replaced
    with pytest.raises(UsageError, match="too long"):
        listen_unix(tmp_path / ("x" * 200))


def test_the_socket_of_another_server_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with unix_socket(path):
        assert path.is_socket()
        path.unlink()
        following = listen_unix(path)
    assert path.is_socket()
    following.close()
    with unix_socket(path):
        pass
    assert not path.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_process(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    server = make_server(lambda *_: None, 1)  # type: ignore[arg-type]
    before = signal.getsignal(number)
    times = iter([10.0, 10.05, 10.2])  # `timeout` sends a signal twice
    with stopped_by_signals(server, lambda: next(times)):
        assert not server.should_exit
        for _ in range(2):
            signal.raise_signal(number)
        assert server.should_exit and ended == []
        signal.raise_signal(number)
    assert ended == [128 + number]
    assert signal.getsignal(number) is before


def test_a_signal_right_after_the_start_stops_the_server(bundle_folder: Path) -> None:
    with serving("--port", "0", "-m", str(bundle_folder)) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert '"stopped"' in process.stderr.read()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_finishes_requests_and_stops(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "socket"
    with serving("--port", "0", "--unix", str(path), "-m", "en-de") as (process, listening):
        server = Running(int(listening["addresses"][0].rpartition(":")[2]))
        statuses: list[int] = []
        text = "This is a sentence of a long text. " * 400
        asked = threading.Thread(target=lambda: statuses.append(server.translate(text).status))
        asked.start()
        wait_until(lambda: b"specdec_requests_in_progress 1.0" in server.ask("GET", "/metrics").body)
        process.send_signal(number)
        asked.join()
        assert process.wait(60) == 0
        assert statuses == [200] and not path.exists()
        assert process.stderr is not None
        events = [json.loads(line) for line in process.stderr]
    assert [event["event"] for event in events][-2:] == ["request", "stopped"]
    assert {"time", "level", "event", "method", "path", "status", "milliseconds"} == set(events[-2])


def test_two_signals_end_the_server_and_the_process_of_a_document_at_once() -> None:
    with serving("--port", "0", "-m", "en-de") as (process, listening):
        server = Running(int(listening["addresses"][0].rpartition(":")[2]))
        data = ("This is a sentence of a long text. " * 5 + "\n\n") * 280
        head = '--x\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'
        body = head.format("file", '; filename="a.txt"') + data + "\r\n" + head.format("source", "") + "en\r\n"
        body += head.format("target", "") + "de\r\n--x--\r\n"
        with socket.create_connection(("127.0.0.1", server.port), 60) as own:
            kind = "content-type: multipart/form-data; boundary=x"
            own.sendall(f"POST /translate_file HTTP/1.1\r\nhost: localhost\r\n{kind}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
            wait_until(lambda: b"specdec_backlog_requests 1.0" in server.ask("GET", "/metrics").body)
            documents = descendants(process.pid)
            assert any("document_process" in command for command in documents.values())
            process.send_signal(signal.SIGTERM)
            wait_until(lambda: not answers(server))  # it accepts no more requests
            time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 128 + signal.SIGTERM
            assert own.recv(1000) == b""
        wait_for_end(documents)


KILLED = """
from tests.server.conftest import serving

with serving("--port", "0", "-m", "en-de") as (process, _):
    print(process.pid, flush=True)
    process.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_the_servers_of_tests_that_are_killed_end() -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, preexec_fn=end_with_parent) as killed:
        assert killed.stdout is not None
        server = int(killed.stdout.readline())
        processes = [server, *descendants(server)]
        assert len(processes) == 2
        killed.kill()
    wait_for_end(processes)


def answers(server: Running) -> bool:
    """Whether a server accepts connections."""
    try:
        return server.ask("GET", "/health").status == 200
    except OSError:
        return False


def test_a_glossary_and_words_that_stay(tmp_path: Path) -> None:
    glossary, words = tmp_path / "terms.tsv", tmp_path / "words"
    glossary.write_text("letter\tSchreiben\n", encoding="utf-8")
    words.write_text("# ours\nhause\n", encoding="utf-8")
    given = ["--glossary", str(glossary), "--keep", "Orangework", "--ignore-file", str(words), "--ignore-category", "VERB:SVA"]
    with serving("--port", "0", *given) as (_, listening):
        server = Running(int(listening["addresses"][0].rpartition(":")[2]))
        answers = [server.translate(text).json["translatedText"] for text in ("The letter is long.", "I like Orangework.")]
        assert "Schreiben" in answers[0] and "Orangework" in answers[1]
        matches = server.post("/v2/check", text="She have a hause. I has seen too many car.", language="en").json["matches"]
        fields = {"task": "translate", "source": "en", "target": "de"}
        *rounds, result = server.post("/show", text="The letter is long.", **fields).body.decode().split("\n\n")[:-1]
        assert "Schreiben" in result and f'"rounds": {len(rounds)}' in result
    assert [match["replacements"] for match in matches] == [[{"value": "cars"}]]


def test_the_reference_engine_serves_too(bundle_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "socket"
    command = ["--unix", str(path), "-m", str(bundle_folder), "--engine", "reference", "--precision", "float32"]
    with serving(*command) as (_, listening):
        assert listening["addresses"] == [f"unix:{path}"]
        with socket.socket(socket.AF_UNIX) as own:
            own.connect(str(path))
            own.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            assert b"200 OK" in own.recv(65536)


def test_help_starts_without_the_extra() -> None:
    code = "import sys; sys.modules['starlette'] = None; from specdec_cli.app import app; app(['serve', '--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "--unix" in done.stdout
