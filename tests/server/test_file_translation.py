"""Documents that clients send: /translate_file and /download_file."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from specdec_cli.documents.document import Document
from specdec_cli.errors import InputError
from specdec_cli.server import document_process, documents
from specdec_cli.server.document_process import Order
from specdec_cli.server.documents import ENDINGS, DocumentLimits, KeptFiles, base_name
from specdec_cli.server.guard import Keys, Limits
from specdec_cli.server.requests import read_form_data
from tests.command_line import run
from tests.faults.process_tree import descendants
from tests.server.conftest import Answer, Held, Running, running, wait_until

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PO = 'msgid ""\nmsgstr "Language: {}\\n"\n\nmsgid "a house"\nmsgstr ""\n'
KIND = {"Content-Type": "multipart/form-data; boundary=x"}


def form(name: str, data: bytes, **fields: str) -> bytes:
    """A multipart form with a file."""
    parts = [f'--x\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields.items()]
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/plain\r\n\r\n'
    return b"".join([*parts, head.encode(), data, b"\r\n--x--\r\n"])


def send(server: Running, name: str, data: bytes, headers: dict[str, str] | None = None, **fields: str) -> Answer:
    """Ask for the translation of a file."""
    body = form(name, data, **({"source": "en", "target": "de"} | fields))
    return server.ask("POST", "/translate_file", body, KIND | (headers or {}))


def fetch(server: Running, answer: Answer) -> Answer:
    """Fetch the file that an answer names."""
    assert answer.status == 200, answer.body
    return server.ask("GET", urlsplit(answer.json["translatedFileUrl"]).path)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.md", b"# A house\n\n    code\n\n> It is.\n", b"# A HOUSE\n\n    code\n\n> IT IS.\n"),
        ("a.MARKDOWN", b"- one\r\n- two\r\n", b"- ONE\r\n- TWO\r\n"),
        ("a.txt", "ein ü😀\n\nzwei".encode(), "EIN Ü😀\n\nZWEI\n".encode()),
        ("a.txt", b"", b""),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nhello\n", b"1\n00:00:01,000 --> 00:00:02,000\nHELLO\n"),
        ("a.html", b"<p title='x'>a</p><pre>c</pre>", b"<p title='X'>A</p><pre>c</pre>"),
    ],
)
def test_a_document_is_translated_and_fetched(server: Running, name: str, data: bytes, expected: bytes) -> None:
    answer = fetch(server, send(server, name, data))
    assert (answer.status, answer.body) == (200, expected)
    assert answer.headers["content-disposition"].startswith("attachment; ") and answer.headers["x-content-type-options"] == "nosniff"


def test_a_po_file_is_translated_if_its_language_is_the_target(server: Running) -> None:
    assert b'msgstr "A HOUSE"' in fetch(server, send(server, "de.po", PO.format("de_AT").encode())).body
    answer = send(server, "fr.po", PO.format("fr").encode())
    assert answer.status == 400 and "target language is fr" in answer.json["error"]


def test_the_source_language_is_detected(server: Running) -> None:
    english, german = b"the house is old and it is not for you\n", b"das ist nicht gut\n"
    assert fetch(server, send(server, "a.txt", english, source="auto")).body == english.upper()
    assert fetch(server, send(server, "a.txt", german, source="auto")).body == german


def test_names_of_clients_are_only_shown(server: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("../../up/ü b.md", "C:\\up\\ü b.md", "/up/ü b.md"):
        answer = send(server, name, b"a\n", {"Host": "localhost:1234"})
        address = answer.json["translatedFileUrl"]
        assert address.startswith("http://localhost:1234/download_file/") and address.count("/") == 4
        found = fetch(server, answer)
        assert unquote(found.headers["content-disposition"]) == "attachment; filename*=UTF-8''ü b_de.md" and found.body == b"A\n"
    assert not any(tmp_path.iterdir())
    behind = send(server, "a.md", b"a\n", {"X-Forwarded-Proto": "https"})
    assert behind.json["translatedFileUrl"].startswith("https://")
    assert base_name("a\r\nb\0" + "c" * 200 + ".md") == "c" * 97 + ".md"


@pytest.mark.parametrize(
    ("name", "data", "fields", "said"),
    [
        ("a.pdf", b"", {}, "not supported; supported are .txt, .md"),
        ("a.md.gz", b"", {}, "not supported"),
        (".md", b"", {}, "not supported"),
        ("", b"", {}, "not supported"),
        ("a.docx", b"PK", {}, "a.docx"),
        ("a.md", b"\xff", {}, "a.md, line 1: not valid UTF-8"),
        ("a.txt", b"a\n\0\n", {}, "line 2: holds a NUL"),
        ("a.xliff", b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', {}, "a.xliff"),
        ("a.md", b"a", {"target": "fr"}, "en to fr is not supported"),
        ("a.md", b"a", {"source": "xx"}, "xx to de is not supported"),
    ],
)
def test_files_that_are_refused(server: Running, name: str, data: bytes, fields: dict[str, str], said: str) -> None:
    answer = send(server, name, data, {}, **fields)
    assert answer.status == 400 and said in answer.json["error"]


def test_requests_without_a_file_are_refused(server: Running) -> None:
    assert "missing file" in server.post("/translate_file", source="en", target="de").json["error"]
    assert "multipart" in server.post("/translate_file", source="en", target="de", file="a").json["error"]
    twice = form("a.md", b"a", source="en", target="de").removesuffix(b"--x--\r\n") + form("b.md", b"b")
    assert "not one file" in server.ask("POST", "/translate_file", twice, KIND).json["error"]
    assert "missing target" in server.ask("POST", "/translate_file", form("a.md", b"a", source="en"), KIND).json["error"]
    for name in ("nothing", "..", "%2e%2e%2fetc%2fpasswd", "%ff"):
        assert server.ask("GET", f"/download_file/{name}").status == 404


def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST", 10_000)
    with running(limits=Limits(characters=100)) as (server, _):
        assert fetch(server, send(server, "a.md", b"    " + b"x" * 1000 + b"\n\na\n")).body.endswith(b"\nA\n")
        for data, said in ((b"a " * 50 + b"a", "101 characters"), (b"    " + b"x" * 1200, "a.md has more than 1,200 bytes")):
            answer = send(server, "a.md", data)
            assert answer.status == 413 and said in answer.json["error"]
        assert send(server, "a.docx", b"x" * 5000).status == 400
        for size in (10**5, 10**7):  # more than the buffers of a connection hold: the client sends all of it before it reads
            answer = send(server, "a.md", b"a" * size)
            assert answer.status == 413 and "body has more than" in answer.json["error"] and answer.headers["connection"] == "close"


def test_a_key_is_needed_to_translate_but_not_to_fetch() -> None:
    with running(keys=Keys(frozenset({"secret-key"}))) as (server, _):
        assert send(server, "a.md", b"a").status == 401
        assert fetch(server, send(server, "a.md", b"a", api_key="secret-key")).body == b"A"


def test_few_files_are_translated_at_once() -> None:
    held = Held()
    with running(held) as (server, service):
        threads = [threading.Thread(target=send, args=(server, "a.md", b"a")) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: service.in_progress == 4)
        answer = send(server, "a.md", b"b")
        assert answer.status == 429 and answer.headers["retry-after"] == "1"
        held.may_end.set()
        for thread in threads:
            thread.join()
        assert fetch(server, send(server, "a.md", b"b")).body == b"B"


def document_processes() -> list[int]:
    """The processes of documents that this process has started."""
    return [number for number, command in descendants(os.getpid()).items() if "document_process" in command]


@contextmanager
def held_document() -> Iterator[tuple[Running, socket.socket, int, threading.Event]]:
    """A server, a connection on which a document was sent, its process, and an event that lets its translation go on."""
    held = Held()
    body = form("a.md", b"a", source="en", target="de")
    head = f"POST /translate_file HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: {KIND['Content-Type']}\r\n"
    with running(held) as (server, service), socket.create_connection(("127.0.0.1", server.port), 60) as own:
        try:
            own.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            wait_until(lambda: service.pool.backlog.requests == 1)
            (process,) = document_processes()
            yield server, own, process, held.may_end
        finally:
            held.may_end.set()


def test_the_process_of_a_document_ends_with_its_request() -> None:
    with held_document() as (server, own, _, may_end):
        may_end.set()
        assert own.recv(1000).startswith(b"HTTP/1.1 200")
        assert document_processes() == []
        assert fetch(server, send(server, "b.md", b"b")).body == b"B"


def test_the_process_of_a_document_ends_when_its_client_leaves() -> None:
    with held_document() as (_, own, process, _):
        os.kill(process, signal.SIGTERM)  # as systemd sends it to all processes of a service; the server ends it
        own.close()
        wait_until(lambda: document_processes() == [])


def test_the_process_of_a_document_ends_with_the_thread_that_started_it() -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        code = "from specdec_cli.server.document_process import main; print('begun', flush=True); main()"
        started.append(subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        assert started[0].stdin is not None and started[0].stdout is not None
        started[0].stdout.readline()
        wait_until(lambda: ignores(started[0].pid, signal.SIGTERM))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with started[0] as process:
        assert process.wait(60) == -signal.SIGKILL


def ignores(process: int, number: int) -> bool:
    """Whether a process ignores a signal."""
    status = Path(f"/proc/{process}/status").read_text()
    return bool(int(status.split("SigIgn:")[1].split()[0], 16) >> (number - 1) & 1)


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGXCPU, 413, "a.md needs more than 15 seconds of processor time"),
        (signal.SIGKILL, 503, "the process that read a.md was killed, perhaps because this machine is out of memory"),
        (signal.SIGSEGV, 500, "internal error"),
    ],
)
def test_documents_whose_process_ends_early(number: int, status: int, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    with held_document() as (server, own, process, may_end):
        os.kill(process, number)
        may_end.set()
        head, _, body = b"".join(iter(lambda: own.recv(1000), b"")).decode().partition("\r\n\r\n")
        assert int(head.split()[1]) == status and said in json.loads(body)["error"]
        count = server.ask("GET", "/metrics").body.decode().count('specdec_documents_ended_total{limit="processor"} 1.0')
        assert count == (status == 413)
    assert ("exit code -11" in capfd.readouterr().err) == (status == 500)


def test_documents_that_need_too_much_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_MEMORY", 2**26)
    monkeypatch.setattr(documents, "_MEMORY_PER_CHARACTER", 0)
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document xmlns:w='x'>{'<a/>' * 200_000}</w:document>")
    with running() as (server, _):
        answer = send(server, "a b.docx", written.getvalue())
        assert answer.status == 413 and "a b.docx needs more than 64 MiB of memory" in answer.json["error"]
        assert b'specdec_documents_ended_total{limit="memory"} 1.0' in server.ask("GET", "/metrics").body
        assert document_processes() == []
        assert fetch(server, send(server, "a.md", b"a")).body == b"A"


def test_documents_whose_time_runs_out_are_counted() -> None:
    held = Held()
    with running(held, Limits(seconds=0.1)) as (server, _):
        assert send(server, "a.md", b"a").status == 503
        held.may_end.set()
        assert b'specdec_documents_ended_total{limit="time"} 1.0' in server.ask("GET", "/metrics").body
        assert document_processes() == []


def test_memory_grows_with_the_limit_of_characters() -> None:
    assert [DocumentLimits(0, characters, 1).memory // 2**20 for characters in (1, 50_000, 2**20)] == [512, 512, 2048]


def frames(*parts: bytes) -> bytes:
    return b"".join(document_process.LENGTH.pack(len(part)) + part for part in parts)


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (RuntimeError("a bug"), "a bug"),
        (RuntimeError("std::bad_alloc"), None),
        (MemoryError(), None),
        (InputError("no document"), "no document"),
    ],
)
def test_errors_of_the_process_of_a_document(error: Exception, answer: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Document:
        raise error

    monkeypatch.setattr(document_process, "_limit", lambda _: None)
    monkeypatch.setattr(document_process, "read_document", fail)
    order = Order("a.md", "md", 10, 0, 0, os.getppid())
    written = BytesIO()
    given = BytesIO(frames(json.dumps(asdict(order)).encode(), b"a"))
    if answer is None:
        with pytest.raises(MemoryError):
            document_process._run(given, written)
    else:
        document_process._run(given, written)
        said = json.loads(written.getvalue()[4:])
        assert answer in said.get("failure", said.get("error"))


def test_the_process_of_a_document_ends_with_its_input() -> None:
    order = json.dumps(asdict(Order("a.md", "md", 10, 0, 0, 0))).encode()
    for given in (b"", frames(order, b"a")):  # a server that has ended, and one that is not its parent
        written = BytesIO()
        document_process._run(BytesIO(given), written)
        assert written.getvalue() == b""


def test_kept_files_are_forgotten() -> None:
    now = 0.0
    files = KeptFiles(10, 100, lambda: now)
    first, second = files.add("a", b"x" * 60), files.add("b", b"y" * 30)
    assert first != second and [each is not None and each.data[:1] for each in map(files.get, (first, second))] == [b"x", b"y"]
    third = files.add("c", b"z" * 60)
    assert files.get(first) is None and files.get(second) is not None and files.get(third) is not None
    now = 10.0
    assert files.get(second) is None and files.get(third) is None
    assert files.get(files.add("d", b"x" * 1000)) is not None


def test_names_of_files_in_forms() -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; '
    for given, name in (
        (b'filename="a b.md"', "a b.md"),
        (b"filename=a.md", "a.md"),
        (b"filename*=utf-8''%C3%BC.md", "ü.md"),
        (b"a=b", ""),
    ):
        ((key, upload),) = read_form_data(KIND["Content-Type"], head + given + b"\r\n\r\n\xff\r\n--x--", ("file",))
        assert key == "file" and not isinstance(upload, str) and (upload.name, upload.data) == (name, b"\xff")


def test_settings_name_the_formats(server: Running) -> None:
    settings = server.ask("GET", "/frontend/settings").json
    assert settings["filesTranslation"] is True and settings["supportedFilesFormat"] == list(ENDINGS)
    assert {".txt", ".md", ".srt", ".po", ".xlf", ".htm", ".docx"} <= set(ENDINGS)


@pytest.mark.parametrize("name", ["notes.md", "draft.md", "essay.txt"])
def test_files_are_translated_as_by_the_command(shipped: Running, tmp_path: Path, name: str) -> None:
    found = fetch(shipped, send(shipped, name, (EXAMPLES / name).read_bytes())).body
    result = run("translate", "--output", tmp_path / name, EXAMPLES / name)
    assert result.exit_code == 0 and found == (tmp_path / name).read_bytes()


def test_libretranslate_aio(shipped: Running, tmp_path: Path) -> None:
    module = pytest.importorskip("libretranslate_aio", reason="libretranslate-aio is not installed")
    path = tmp_path / "grüße 😀.md"
    path.write_text("# Good morning!\n\nWhere is the **old** house?\n", encoding="utf-8")
    with module.LibreTranslate(shipped.url) as client:
        address = client.translate_file(path, "auto", "de").translated_file_url
        assert ".docx" in client.frontend_settings().supported_files_format
        translation = client.translate("Good morning!", "en", "de", alternatives=2)
    assert translation.translated_text == "Guten Morgen!" and len(set(translation.alternatives) - {"Guten Morgen!"}) == 2
    found = shipped.ask("GET", urlsplit(address).path)
    assert found.body.decode() == "# Guten Morgen!\n\nWo ist das **alte** Haus?\n"
    assert unquote(found.headers["content-disposition"]).endswith("''grüße 😀_de.md")
