"""The rules of stand-ins.toml: what a model reads, and what is written in its output, for the cases of each rule."""

import pytest

from specdec_cli.text.protect.stand_ins import read_rules, read_text

RULES = [(rule["id"], pair) for rule in read_rules()["stand-in"] for pair in rule["between"]]
CASES = [(rule["between"][0], *case) for rule in read_rules()["stand-in"] for case in rule["cases"]]


@pytest.mark.parametrize(("pair", "text", "read", "output", "expected"), CASES)
def test_a_model_reads_stand_ins(pair: str, text: str, read: str, output: str, expected: str) -> None:
    source, target = pair.split("-")
    found = read_text(text, (source, target))
    assert found is not None
    assert found.text == read
    assert found.restored(output) == expected
    assert found.restored("Das hat es nicht.") is None


def test_each_rule_has_a_name_of_its_own_and_a_case() -> None:
    assert len({*RULES}) == len(RULES)
    assert all(rule["cases"] for rule in read_rules()["stand-in"])


@pytest.mark.parametrize(
    "text", ["At 3:45 PM", "2 grams", "Wir treffen uns um 8:30 Uhr", "in a minor role", "`2 tbsp`", "Mr. Smith and Mrs. Hall", "5'7\" tall"]
)
def test_other_texts_are_read_as_they_are(text: str) -> None:
    assert read_text(text, ("en", "de")) is None
    assert read_text("2 tbsp of oil", ("en", "fr")) is None
