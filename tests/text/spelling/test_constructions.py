"""Constructions that are wrong whatever stands around them, and right sentences that look like them: the cases beside each rule."""

import re
from typing import Any

import pytest

from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.constructions import construction_edits, constructions, read_rules

READ = read_rules()
RULES: list[dict[str, Any]] = READ["rule"]
WRONG = [(rule["id"], case) for rule in RULES for case in rule["wrong"]]
RIGHT = [case for rule in RULES for case in rule.get("right", ())]
OTHERS = """
I saw the the film. | I saw the film.
The the cat sleeps. | The cat sleeps.
I went to the the the shop. | I went to the shop.
It is is is late. | It is late.
I I think so. | I think so.
"""


def mended(text: str) -> str:
    return apply_edits(text, sorted(construction_edits(text)))


@pytest.mark.parametrize(("name", "case"), WRONG)
def test_a_rule_mends_its_wrong_cases(name: str, case: str) -> None:
    wrong, right = case.split(" | ")
    assert mended(wrong) == right and list(construction_edits(right)) == []
    rule = next(each for each in constructions() if each.name == name)
    found = rule.pattern.search(wrong)
    assert found is not None and any(word in wrong.lower() for word in rule.words)
    assert rule.written(found) != found["old"]


@pytest.mark.parametrize("case", OTHERS.strip().splitlines())
def test_repeated_words_are_mended(case: str) -> None:
    wrong, right = case.split(" | ")
    assert mended(wrong) == right and list(construction_edits(right)) == []


@pytest.mark.parametrize("line", RIGHT)
def test_what_may_be_right_stays(line: str) -> None:
    assert list(construction_edits(line)) == []


def test_rules_have_names_cases_and_no_other_fields() -> None:
    names = [rule["id"] for rule in RULES]
    assert len(set(names)) == len(names) >= 81 and all(re.fullmatch(r"[a-z]+(?:-[a-z]+)*", name) for name in names)
    for rule in RULES:
        assert rule["wrong"] and rule.keys() <= {"id", "words", "pattern", "write", "cased", "score", "wrong", "right"}, rule["id"]
        assert "(?P<old>" in rule["pattern"] and rule["words"], rule["id"]


def test_all_lists_and_maps_are_used() -> None:
    texts = [text for rule in RULES for text in (rule["pattern"], rule["write"], *rule["words"])]
    for name in (*READ["lists"], *READ["maps"], *READ["patterns"]):
        assert any(f"{{{name}}}" in text or f">{name}}}" in text for text in texts), name


def test_words_that_are_written_keep_a_capital() -> None:
    assert mended("Many homeworks are bad.") == "Much homework are bad."
    assert mended("By the other hand, he left.") == "On the other hand, he left."
    assert mended("This are my books. That are very good.") == "These are my books. Those are very good."
