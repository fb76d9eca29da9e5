"""The routes: fields in every form, forms of several parts, errors in the form of each interface, languages."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.server.guard import Keys, RequestError
from specdec_cli.server.requests import read_form_data
from tests.server.conftest import Running, leave, running

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MULTIPART = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'


def test_translate_reads_forms_json_and_multipart(server: Running) -> None:
    fields = {"q": "ein\nhaus 😀", "source": "en", "target": "de"}
    asked = [
        server.post("/translate", **fields),
        server.ask("POST", "/translate", json.dumps(fields), {"Content-Type": "application/json"}),
        server.ask("POST", "/translate", json.dumps(fields), FORM),
        server.ask(
            "POST",
            "/translate",
            b"".join(MULTIPART % (name.encode(), value.encode()) for name, value in fields.items()) + b"--x--\r\n",
            {"Content-Type": "multipart/form-data; boundary=x"},
        ),
    ]
    assert [(answer.status, answer.json) for answer in asked] == [(200, {"translatedText": "EIN\nHAUS 😀"})] * 4


def test_lists_keep_their_order_and_auto_detects_each(server: Running) -> None:
    body = json.dumps({"q": ["the house is old", "", "das ist nicht gut", "x"], "source": "auto", "target": "de", "alternatives": 2})
    answer = server.ask("POST", "/translate", body).json
    assert answer["translatedText"] == ["THE HOUSE IS OLD", "", "das ist nicht gut", "X"]
    assert [each["language"] for each in answer["detectedLanguage"]] == ["en", "en", "de", "en"]
    assert answer["alternatives"] == [[], [], [], []]


def test_html_is_translated_between_its_tags(server: Running) -> None:
    assert server.translate("<p>a house</p> <code>x</code>", format="html").json == {"translatedText": "<p>A HOUSE</p> <code>x</code>"}


def test_fields_that_are_null_are_left_out(server: Running) -> None:
    fields = {"q": "a", "source": "en", "target": "de", "format": None, "alternatives": None, "api_key": None}
    assert server.ask("POST", "/translate", json.dumps(fields)).json == {"translatedText": "A"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("source=en&target=de", "missing q"),
        ('[{"q": "a", "source": "en", "target": "de"}]', "an object is expected"),
        ("q=a&target=de", "missing source"),
        ("q=a&source=en", "missing target"),
        ("q=a&source=de&target=en", "not supported"),
        ("q=a&source=xx&target=de", "not supported"),
        ("q=a&source=en&target=de&format=pdf", "format pdf"),
        ("q=a&source=en&target=de&alternatives=x", "alternatives"),
        ('{"q": "a", "source": "en", "target": "de", "alternatives": 1e999}', "alternatives"),
        ('{"q": 5, "source": "en", "target": "de"}', "not a text"),
        ('{"q": ["a", null], "source": "en", "target": "de"}', "not a text"),
        ('{"q": "\\ud800", "source": "en", "target": "de"}', "surrogate"),
        ('{"q": "\\u0000", "source": "en", "target": "de"}', "NUL"),
        ("{", "JSON"),
        ("q=%ff&source=en&target=de", "form"),
        (b"\xff", "UTF-8"),
        ("[" * 10, "an object is expected"),
        ('{"q": ' + "[" * 100_000, "JSON"),
    ],
)
def test_errors_are_json_with_one_sentence(server: Running, body: str | bytes, said: str) -> None:
    answer = server.ask("POST", "/translate", body)
    assert answer.status == 400 and said in answer.json["error"]


def test_other_paths_and_methods(server: Running) -> None:
    assert server.ask("GET", "/nothing").json == {"error": "Not Found"}
    assert server.ask("GET", "/translate").status == 405
    answer = server.ask("GET", "/v2/nothing")
    assert (answer.status, answer.body) == (404, b"Error: Not Found")


def test_check_counts_utf_16_and_reads_every_form(server: Running) -> None:
    text = "😀 the men is here.\nWe is very late"
    data = json.dumps({"annotation": [{"text": text}]})
    for answer in (
        server.post("/v2/check", text=text, language="en-US"),
        server.post("/v2/check", data=data, language="auto"),
        server.ask(
            "POST",
            "/v2/check",
            f"language=en&data={json.dumps({'annotation': [{'text': 'We is late'}]})}",
            {"Content-Type": "application/json"},
        ),
    ):
        found = answer.json
        assert answer.status == 200 and {"software", "warnings", "language", "matches"} == set(found)
        assert found["matches"][-1]["replacements"]
    found = server.post("/v2/check", text=text, language="en-US").json["matches"]
    spans = [text.encode("utf-16-le")[2 * m["offset"] : 2 * (m["offset"] + m["length"])].decode("utf-16-le") for m in found]
    assert [span.strip() for span in spans] == ["is", "is very"]
    assert [match["offset"] for match in found] == [11, 23]


def test_check_refuses_other_languages_and_filters_rules(server: Running) -> None:
    answer = server.post("/v2/check", text="a", language="de-DE")
    assert answer.status == 400 and answer.body.startswith(b"Error: 'de-DE' is not a language code known")
    assert server.post("/v2/check", language="en").body == b"Error: Invalid request: missing text parameter"
    fields = {"text": "We is late", "language": "en"}
    assert len(server.post("/v2/check", **fields).json["matches"]) == 1
    for name, value in (("disabledRules", "A, SPECDEC_R_OTHER"), ("disabledCategories", "GRAMMAR"), ("mode", "textLevelOnly")):
        assert server.post("/v2/check", **fields, **{name: value}).json["matches"] == []
    assert server.post("/v2/check", **fields, mode="allButTextLevelOnly", level="picky").json["matches"] != []
    assert server.ask("HEAD", "/v2/check").status == 200


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"enabledOnly": True, "enabledRules": "A"}, 0),
        ({"enabledOnly": "yes", "enabledRules": "A,SPECDEC_R_OTHER"}, 1),
        ({"enabledOnly": False, "enabledRules": "A"}, 1),
        ({"disabledRules": ["A", "SPECDEC_R_OTHER"]}, 0),
        ({"disabledRules": None, "language": None, "data": None, "level": None, "enabledOnly": None}, 1),
    ],
)
def test_check_reads_booleans_lists_and_null_of_json(server: Running, options: dict[str, object], count: int) -> None:
    body = json.dumps({"text": "We is late", "language": "en"} | options).encode("utf-8-sig")
    assert len(server.ask("POST", "/v2/check", body).json["matches"]) == count


def test_a_repeated_field_of_rules_is_one_list(server: Running) -> None:
    answer = server.ask("POST", "/v2/check", "text=We+is+late&language=en&disabledRules=A&disabledRules=SPECDEC_R_OTHER")
    assert answer.json["matches"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": "strict"}, "level is 'strict'; known values are default, picky"),
        ({"level": "\ud800"}, "surrogate"),
        ({"mode": "some"}, "mode is 'some'"),
        ({"enabledOnly": "sometimes"}, "enabledOnly is neither"),
        ({"enabledOnly": "true"}, "enabledOnly needs enabledRules"),
        ({"data": {"text": "a"}}, "text and data"),
    ],
)
def test_check_refuses_options_that_it_does_not_know(server: Running, options: dict[str, object], said: str) -> None:
    answer = server.ask("POST", "/v2/check", json.dumps({"text": "We is late", "language": "en"} | options))
    assert answer.status == 400 and answer.body.startswith(b"Error: ") and said in answer.body.decode()


def test_languages_detection_and_settings(server: Running) -> None:
    assert server.ask("GET", "/languages").json[0] == {"code": "en", "name": "English", "targets": ["de"]}
    assert server.post("/detect", q="das ist nicht gut").json == [{"confidence": 100.0, "language": "de"}]
    assert server.post("/detect", q="").json == [{"confidence": 0.0, "language": "en"}]
    settings = server.ask("GET", "/frontend/settings").json
    assert (settings["charLimit"], settings["keyRequired"], settings["filesTranslation"]) == (50_000, False, True)
    assert {"name": "English (US)", "code": "en", "longCode": "en-US"} in server.ask("GET", "/v2/languages").json


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
