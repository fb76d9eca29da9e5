"""Which hosts a request may name, and which web pages may ask."""

import pytest

from specdec_cli.errors import UsageError
from specdec_cli.server.guard import read_origin
from tests.server.conftest import Running, running
from tests.tables import tables

CASES = tables(__file__)

FORM = "q=a&source=en&target=de"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((host, 200) for host in ("localhost:5000", "LOCALHOST", "127.0.0.1", "127.0.0.2:5000", "[::1]:1", "[::1]")),
        *((host, 421) for host in ("evil.example", "evil.example:5000", "127.0.0.1.evil.example", "[::1].evil.example", "[::2]", "")),
    ],
)
def test_only_names_of_this_machine_are_served(server: Running, host: str, status: int) -> None:
    assert server.ask("GET", "/health", headers={"Host": host}).status == status


def test_a_host_that_is_not_served_is_named(server: Running) -> None:
    answer = server.ask("GET", "/health", headers={"Host": "evil.example:80"})
    assert "'evil.example'" in answer.json["error"] and "localhost" in answer.json["error"]
    assert server.ask("GET", "/v2/languages", headers={"Host": "evil.example"}).body.startswith(b"Error: the host")
    with running(checks_host=False) as (other, _):
        assert other.ask("GET", "/health", headers={"Host": "evil.example"}).status == 200


@pytest.mark.parametrize(("headers", "status"), CASES.pages_of_other_sites_may_not_ask)
def test_pages_of_other_sites_may_not_ask(server: Running, headers: dict[str, str], status: int) -> None:
    assert server.ask("POST", "/translate", FORM, {"Content-Type": "text/plain"} | headers).status == status


def test_pages_of_allowed_sites_may_ask() -> None:
    headers = {"Origin": "https://example.org"}
    with running(origins=[read_origin("https://Example.org/")]) as (server, _):
        assert server.ask("POST", "/translate", FORM, headers).headers["access-control-allow-origin"] == "https://example.org"
        asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Private-Network": "true"}
        preflight = server.ask("OPTIONS", "/translate", headers=headers | asked)
        assert (preflight.status, preflight.headers["access-control-allow-origin"]) == (200, "https://example.org")
        assert preflight.headers["access-control-allow-private-network"] == "true"
        assert server.ask("POST", "/translate", FORM, {"Origin": "https://evil.example"}).status == 403
    with running(origins=["*"]) as (server, _):
        assert server.ask("POST", "/translate", FORM, headers).headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(("text", "origin"), CASES.origins_are_read_as_browsers_write_them)
def test_origins_are_read_as_browsers_write_them(text: str, origin: str) -> None:
    assert read_origin(text) == origin


@pytest.mark.parametrize(
    "text", ["example.org", "https://", "https://example.org/path", "https://a:b@c", "https://a:x", "https://[1", "a b"]
)
def test_other_texts_are_no_origins(text: str) -> None:
    with pytest.raises(UsageError, match="not the address of a site"):
        read_origin(text)
