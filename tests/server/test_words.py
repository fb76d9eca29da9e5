"""The list of words of /v2/words, which lasts, and which corrections leave alone."""

import json
from pathlib import Path

import pytest

from specdec_cli.server.guard import Keys
from specdec_cli.text.io.word_list import WordList
from tests.server.conftest import Running, running, serving


def test_a_word_that_is_added_is_not_changed_and_lasts(tmp_path: Path) -> None:
    path, text = tmp_path / "words.txt", "I recieve a letter."
    options = ("--port", "0", "--model", "en-gec", "--words", str(path))
    with serving(*options) as (_, listening):
        server = Running(int(listening["addresses"][0].rpartition(":")[2]))
        found = [len(server.post("/v2/check", text=text, language="en-US").json["matches"])]
        assert server.post("/v2/words/add", word="recieve").json == {"added": True}
        found.append(len(server.post("/v2/check", text=text, language="en-US").json["matches"]))
        assert server.post("/v2/words/add", word="recieve").json == {"added": False}
        assert server.post("/v2/words/delete", word="recieve").json == {"deleted": True}
        found.append(len(server.post("/v2/check", text=text, language="en-US").json["matches"]))
        assert found == [1, 0, 1]
        server.post("/v2/words/add", word="recieve")
    assert path.read_text() == "recieve\n"
    with serving(*options) as (_, listening):
        server = Running(int(listening["addresses"][0].rpartition(":")[2]))
        assert server.ask("GET", "/v2/words").json == {"words": ["recieve"]}
        assert server.post("/v2/check", text=text, language="en-US").json["matches"] == []


def test_words_are_listed_in_parts(tmp_path: Path) -> None:
    with running() as (server, service):
        service.words = WordList.of_file(tmp_path / "words.txt", may_be_missing=True)
        assert server.ask("GET", "/v2/words").json == {"words": []}
        for number in range(12):
            assert server.ask("POST", "/v2/words/add", json.dumps({"word": f"w{number}", "dict": "mine"})).json == {"added": True}
        assert server.ask("GET", "/v2/words").json == {"words": [f"w{number}" for number in range(10)]}
        assert server.ask("GET", "/v2/words?offset=9&limit=2").json == {"words": ["w9", "w10"]}
        for query in ("offset=-1", "limit=x", "limit=9999999999"):
            assert server.ask("GET", f"/v2/words?{query}").status == 400


@pytest.mark.parametrize("word", ["", "two words", "#x", "x" * 101, "--", "a\0b"])
def test_words_that_cannot_be_listed_are_refused(word: str, tmp_path: Path) -> None:
    with running() as (server, service):
        service.words = WordList.of_file(tmp_path / "words.txt", may_be_missing=True)
        answer = server.post("/v2/words/add", word=word)
        assert (answer.status, answer.body[:22]) == (400, b"Error: Invalid request")
        assert server.post("/v2/words/add").status == 400
        assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_an_error_and_no_word_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    with running() as (server, service):
        service.words = WordList.of_file(path, may_be_missing=True)
        assert server.post("/v2/words/add", word="good").json == {"added": True}
        path.write_bytes(b"good\n\xff\n")
        answer = server.post("/v2/words/add", word="more")
        assert (answer.status, answer.body) == (500, b"Error: the list of words cannot be changed; the log says why")
        assert path.read_bytes() == b"good\n\xff\n"
        assert server.ask("GET", "/v2/words").json == {"words": ["good"]}


def test_without_a_list_and_without_a_key_requests_are_refused(tmp_path: Path) -> None:
    with running() as (server, _):
        answer = server.post("/v2/words/add", word="x")
        assert (answer.status, answer.body) == (404, b"Error: this server has no list of words; start it with --words FILE")
        assert server.ask("GET", "/v2/words/add").status == 405
    with running(keys=Keys(frozenset(["a secret key"]))) as (server, service):
        service.words = WordList.of_file(tmp_path / "words.txt", may_be_missing=True)
        assert server.ask("GET", "/v2/words").status == 401
        assert server.post("/v2/words/add", word="x", apiKey="wrong key").status == 403
        assert server.post("/v2/words/add", word="x", apiKey="a secret key").json == {"added": True}
        headers = {"Origin": "https://evil.example", "Authorization": "Bearer a secret key"}
        assert server.ask("POST", "/v2/words/add", "word=y", headers).status == 403
    assert (tmp_path / "words.txt").read_text() == "x\n"
