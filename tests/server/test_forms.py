"""Forms sent as multipart/form-data are read in time proportional to their size; others are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.server.guard import Keys, RequestError
from specdec_cli.server.requests import read_form_data
from tests.server.conftest import Running, leave, running

KIND = "multipart/form-data; boundary=x"
FIELD = b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\na\r\n'
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(lambda text: "--x" not in text)


@given(st.lists(st.tuples(st.text("abc", max_size=5), TEXT), max_size=8))
def test_names_and_texts_of_a_form_are_read(fields: list[tuple[str, str]]) -> None:
    parts = [f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n' for name, text in fields]
    assert read_form_data(KIND, "".join([*parts, "--x--\r\n"]).encode()) == fields


def test_forms_of_browsers_and_libraries_are_read() -> None:
    body = b'1\r\n--a b\r\ncontent-disposition: form-data; filename="f"; name="q"\r\nA: b\r\n\r\n1\r\n\r\n2\r\n--a b--'
    assert read_form_data('multipart/form-data; charset=utf-8; boundary="a b"', body) == [("q", "1\r\n\r\n2")]
    assert read_form_data(KIND, b"--x\r\nContent-Disposition: form-data; name=q\r\n\r\n\r\n--x--") == [("q", "")]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (KIND, b"--x\r\nContent-Disposition: form-data; " + b"a=b; " * 20_000 + b'name="q"\r\n\r\na\r\n--x--'),
        (KIND, b"--x\r\nContent-Disposition: form-data; name=" + b"(" * 50_000 + b"\r\n\r\na\r\n--x--"),
        (KIND, b"--x\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n" * 3000 + b"--x--"),
        (KIND, b"".join(b"--x%d\r\nContent-Type: multipart/mixed; boundary=x%d\r\n\r\n" % (n, n + 1) for n in range(2000))),
        (KIND, FIELD * 65 + b"--x--"),
        (KIND, FIELD),
        (KIND, b""),
        (KIND, b"--x\r\nno header\r\n--x--"),
        (KIND, FIELD.replace(b"\r\n\r\n", b"\r\nContent-Transfer-Encoding: base64\r\n\r\n") + b"--x--"),
        (KIND, FIELD.replace(b"\r\n\r\na", b"\r\n\r\n\xff") + b"--x--"),
        ("multipart/form-data; " + "a=b;" * 3000, FIELD + b"--x--"),
        ("multipart/form-data", FIELD + b"--x--"),
    ],
)
def test_other_forms_are_refused(server: Running, kind: str, body: bytes) -> None:
    answer = server.ask("POST", "/translate", body, {"Content-Type": kind})
    assert answer.status == 400 and "form" in answer.json["error"]
    with pytest.raises(RequestError):
        read_form_data(kind, body)


def test_a_wrong_key_is_refused_before_the_body_arrives() -> None:
    with running(keys=Keys(frozenset({"secret-key"}))) as (server, _):
        for path in ("/translate?api_key=wrong", "/v2/check?apiKey=wrong", "/show?api_key=wrong"):
            with leave(server.port, path, b"", shut=False, missing=10) as own:
                assert own.recv(1000).startswith(b"HTTP/1.1 403")
