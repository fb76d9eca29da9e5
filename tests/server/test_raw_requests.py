"""The fields `raw` and `without` of requests to /translate."""

import json
from typing import Any

import pytest

from specdec_cli import Corrector, Translator
from specdec_cli.errors import UsageError
from specdec_cli.server.texts import split_lines
from tests.server.conftest import Running

LINES = ["See https://example.org/a_b. It costs $3.", "", "The file config.yaml is in /etc. Open it.", "- It is late."]


def ask(server: Running, q: object, **fields: object) -> Any:
    """The answer to a request for a translation from English to German."""
    return server.ask("POST", "/translate", json.dumps({"q": q, "source": "en", "target": "de"} | fields))


def test_a_raw_request_has_the_output_of_raw_translation(shipped: Running) -> None:
    with Translator("en-de", raw=True, threads=1) as raw, Translator("en-de", threads=1) as usual:
        expected, others = ([each.text for each in one.lines(LINES)] for one in (raw, usual))
    assert expected != others
    wishes: tuple[tuple[object, ...], ...] = ((True, "true", "1"), (False, "false", "0", None))
    for wish in wishes[0]:
        assert ask(shipped, "\n".join(LINES), raw=wish).json["translatedText"].split("\n") == expected
    for wish in wishes[1]:
        assert ask(shipped, LINES, raw=wish).json["translatedText"] == others


def test_a_rule_is_off_in_one_request_alone(shipped: Running) -> None:
    line = "This is VERY good."
    with Translator("en-de", without=["stress"], threads=1) as without, Translator("en-de", threads=1) as usual:
        expected, other = without.translate(line), usual.translate(line)
    assert expected != other
    for names in (["stress"], "stress", "stress,menus"):
        assert ask(shipped, line, without=names).json["translatedText"] == expected
    assert ask(shipped, line).json["translatedText"] == other


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"raw": "perhaps"}, "raw is not true or false"),
        ({"raw": [True]}, "raw is not true or false"),
        ({"raw": True, "format": "html"}, "raw is for format text"),
        ({"raw": True, "alternatives": 2}, "raw is for format text"),
        ({"without": ["stres"]}, "'stres' is no rule"),
        ({"without": [5]}, "without is not a text"),
    ],
)
def test_other_values_are_refused(shipped: Running, fields: dict[str, object], message: str) -> None:
    answer = ask(shipped, "It is late.", **fields)
    assert answer.status == 400
    assert message in answer.json["error"]


def test_names_of_no_rule_are_refused_in_python() -> None:
    for model, kind in (("en-de", Translator), ("en-gec", Corrector)):
        with pytest.raises(UsageError, match=r"without 'stres': no rule; the rules are"):
            kind(model, without=["stres"])


def test_raw_text_is_split_into_its_lines_alone() -> None:
    text = " a. b. \r\n\n\t\nc\n"
    found = split_lines(text)
    assert found.texts == (" a. b. ", "c")
    assert found.join(found.texts) == text
