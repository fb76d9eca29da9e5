"""Real clients of LibreTranslate and LanguageTool work with the shipped models."""

import socket
import sys
from types import ModuleType

import pytest

from tests.server.conftest import Running

TEXT = "😀 She don't like coffee, and he have no tea.\n\n🇩🇪🎉\nThere is many reasons to be happy."
CORRECT = "😀 She doesn't like coffee, and he has no tea.\n\n🇩🇪🎉\nThere are many reasons to be happy."


def test_libretranslatepy(shipped: Running) -> None:
    libretranslatepy = pytest.importorskip("libretranslatepy", reason="libretranslatepy is not installed")
    client = libretranslatepy.LibreTranslateAPI(shipped.url)
    assert client.translate("Good morning!", "en", "de") == "Guten Morgen!"
    assert client.detect("Where is the old house?")[0]["language"] == "en"
    assert {"en", "de"} == {language["code"] for language in client.languages()}


def test_language_tool_python(shipped: Running) -> None:
    language_tool_python = pytest.importorskip("language_tool_python", reason="language_tool_python is not installed")
    with language_tool_python.LanguageTool("en-US", remote_server=shipped.url) as tool:
        matches = tool.check(TEXT)
        assert [TEXT[match.offset : match.offset + match.error_length] for match in matches] == ["don't", "have", "is"]
        assert [match.replacements for match in matches] == [["doesn't"], ["has"], ["are"]]
        assert tool.correct(TEXT) == CORRECT
        assert tool.check("This is right.") == []


def test_pylanguagetool(shipped: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("requests", reason="requests is not installed")
    stub = ModuleType("pkg_resources")  # of setuptools before 82; the client reads its own version from it
    stub.__dict__["get_distribution"] = lambda name: type("Found", (), {"version": name})
    monkeypatch.setitem(sys.modules, "pkg_resources", stub)
    api = pytest.importorskip("pylanguagetool.api", reason="pyLanguagetool is not installed")
    found = api.check(TEXT, f"{shipped.url}/v2/", "en-US")
    units = TEXT.encode("utf-16-le")
    words = [units[2 * m["offset"] : 2 * (m["offset"] + m["length"])].decode("utf-16-le") for m in found["matches"]]
    assert words == ["don't", "have", "is"]
    assert found["language"]["detectedLanguage"]["confidence"] > 0 and found["software"]["name"]
    assert {"code", "longCode", "name"} == set(api.get_languages(f"{shipped.url}/v2/")[0])
    with pytest.raises(ValueError, match="not a language code"):
        api.check(TEXT, f"{shipped.url}/v2/", "xx")


def test_the_unix_socket_answers_too(shipped: Running) -> None:
    assert shipped.unix is not None and shipped.unix.stat().st_mode & 0o777 == 0o600
    with socket.socket(socket.AF_UNIX) as own:
        own.connect(str(shipped.unix))
        body = b"q=Good+morning!&source=en&target=de"
        own.sendall(b"POST /translate HTTP/1.1\r\nhost: any\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        answer = b"".join(iter(lambda: own.recv(65536), b""))
    assert b'"Guten Morgen!"' in answer


def test_lists_and_html_as_weblate_and_mastodon_send_them(shipped: Running) -> None:
    body = '{"q": ["<p>The <b>old</b> house is red.</p>", ""], "source": "auto", "target": "de", "format": "html"}'
    answer = shipped.ask("POST", "/translate", body, {"Content-Type": "application/json"}).json
    first, second = answer["translatedText"]
    assert first.startswith("<p>") and first.endswith("</p>") and first.count("<b>") == first.count("</b>") == 1 and second == ""
    assert [each["language"] for each in answer["detectedLanguage"]] == ["en", "en"]
