"""The description of the routes at /spec: it has all of them, and what they answer is as it says."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from specdec_cli.server import application
from specdec_cli.server.guard import Keys
from specdec_cli.text.io.word_list import WordList
from tests.server.conftest import Running, running

OF_THE_PAGE = {("/", "get"), ("/show", "post")}


def described(server: Running) -> Any:
    """The description of a server."""
    return server.ask("GET", "/spec").json


def test_all_routes_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Starlette] = []

    def starlette(**options: Any) -> Starlette:
        made.append(Starlette(**options))
        return made[-1]

    monkeypatch.setattr(application, "Starlette", starlette)
    with running() as (server, _):
        paths = described(server)["paths"]
    routes: Any = made[0].routes
    real = {(route.path, method.lower()) for route in routes for method in route.methods if method != "HEAD"}
    assert {(path, method) for path, methods in paths.items() for method in methods} == real - OF_THE_PAGE


def test_answers_are_as_described(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    pair = {"source": "en", "target": "de"}
    requests: list[tuple[str, str, dict[str, object] | None]] = [
        ("post", "/translate", {"q": "a", "temperature": 1, "seed": 2, "top_k": 3} | pair),
        ("post", "/translate", {"q": ["a", "b"], "alternatives": 1, "format": "html", "source": "auto", "target": "de"}),
        ("post", "/detect", {"q": "a"}),
        ("get", "/languages", None),
        ("get", "/frontend/settings", None),
        (
            "post",
            "/v2/check",
            {"text": "This is very wrong.", "language": "en-US", "mode": "all", "level": "picky", "enabledOnly": "false"},
        ),
        ("get", "/v2/check?text=It+is+very+late.&language=en", None),
        ("get", "/v2/languages", None),
        ("post", "/v2/words/add", {"word": "kubectl"}),
        ("get", "/v2/words?offset=0&limit=5", None),
        ("post", "/v2/words/delete", {"word": "kubectl"}),
        ("get", "/health", None),
        ("get", "/spec", None),
    ]
    seen = set()
    with running() as (server, service):
        service.words = WordList.of_file(tmp_path / "words.txt", may_be_missing=True)
        paths = described(server)["paths"]
        for method, address, fields in requests:
            path = address.partition("?")[0]
            route, answer = paths[path][method], server.ask(method.upper(), address, None if fields is None else json.dumps(fields))
            assert answer.status == 200, (path, answer.body)
            jsonschema.validate(answer.json, route["responses"]["200"]["content"]["application/json"]["schema"])
            if fields is not None:
                asked = route["requestBody"]["content"]["application/json"]["schema"]
                jsonschema.validate(fields, asked | {"additionalProperties": False})
                for name in asked.get("required", ()):
                    refused = server.ask("POST", path, json.dumps({key: value for key, value in fields.items() if key != name}))
                    assert refused.status == 400 and name in refused.body.decode(), (path, name)
            seen.add((path, method))
        others = {(path, method) for path, methods in paths.items() for method in methods} - seen
    assert others == {
        ("/translate_file", "post"),
        ("/download_file/{name}", "get"),
        ("/metrics", "get"),
    }  # they answer no JSON, or take files


def test_keys_are_described_where_they_are_needed() -> None:
    with running(keys=Keys(frozenset({"secret-key"}))) as (server, _):
        found = described(server)
        for path, methods in found["paths"].items():
            for method, route in methods.items():
                answer = server.ask(method.upper(), path, "{}" if method == "post" else None)
                assert (answer.status == 401) is ("security" in route), path
    assert set(found["components"]["securitySchemes"]) == {"bearer", "header"}
    with running() as (server, _):
        assert "security" not in json.dumps(described(server))
