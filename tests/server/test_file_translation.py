"""Documents that clients send: /translate_file and /download_file."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from typer.testing import CliRunner

from specdec_cli.app import app
from specdec_cli.pipeline.translator import Translation
from specdec_cli.server import file_translation
from specdec_cli.server.batching import Pool
from specdec_cli.server.file_translation import FileTranslation
from specdec_cli.server.form_data import read_form_data
from specdec_cli.server.kept_files import KeptFiles
from specdec_cli.server.keys import Keys
from specdec_cli.server.limits import Limits
from specdec_cli.server.service import Service
from specdec_cli.server.uploaded_files import ENDINGS, base_name
from tests.server.conftest import Answer, Running, running, shout, wait_until

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
        ("a.pdf", b"", {}, "not supported; .txt, .md"),
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
    monkeypatch.setattr(file_translation, "LARGEST", 10_000)
    with running(limits=Limits(characters=100)) as (server, _):
        assert fetch(server, send(server, "a.md", b"    " + b"x" * 1000 + b"\n\na\n")).body.endswith(b"\nA\n")
        for data, said in ((b"a " * 50 + b"a", "101 characters"), (b"    " + b"x" * 1200, "a.md has more than 1200 bytes")):
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
    may_end = threading.Event()

    def held(lines: Sequence[str]) -> list[Translation]:
        assert may_end.wait(60)
        return shout(lines)

    with running(held) as (server, service):
        threads = [threading.Thread(target=send, args=(server, "a.md", b"a")) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: service.in_progress == 4)
        answer = send(server, "a.md", b"b")
        assert answer.status == 429 and answer.headers["retry-after"] == "1"
        may_end.set()
        for thread in threads:
            thread.join()
        assert fetch(server, send(server, "a.md", b"b")).body == b"B"


def test_a_thread_that_is_cancelled_at_the_end_is_not_reported() -> None:
    reported: list[dict[str, Any]] = []
    may_end = threading.Event()

    async def stop_in_the_middle() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(context))
        files = FileTranslation(Service(Pool(), {}, {}))
        request = asyncio.create_task(files._in_thread(lambda: may_end.wait(60)))
        await asyncio.sleep(0)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        (thread,) = asyncio.all_tasks() - {asyncio.current_task()}
        thread.cancel()
        await asyncio.wait([thread])
        may_end.set()
        await asyncio.sleep(0)

    asyncio.run(stop_in_the_middle())
    assert reported == []


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["notes.md", "draft.md", "essay.txt"])
def test_files_are_translated_as_by_the_command(shipped: Running, tmp_path: Path, name: str) -> None:
    found = fetch(shipped, send(shipped, name, (EXAMPLES / name).read_bytes())).body
    result = CliRunner().invoke(app, ["translate", "--output", str(tmp_path / name), str(EXAMPLES / name)])
    assert result.exit_code == 0 and found == (tmp_path / name).read_bytes()


@pytest.mark.slow
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
