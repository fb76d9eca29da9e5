"""The rules that reject edits, their order and their names."""

import pytest

from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.edit_rules import FIRST, LAST, RULES, Context, EditRule, applied
from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.edits import Edit, find_edits
from tests.command_line import run
from tests.tables import tables

CASES = tables(__file__)

KNOWN = count_ngrams(["The cat and the cats see the house , the houses and the Meaning of life near by ."] * 20)
FILTER = EditFilter(minimum=-1.0, minimum_beside_others=-2.0)


def rejected(text: str, changed: str, *scores: float, rules: tuple[EditRule, ...] = (*FIRST, *RULES, *LAST)) -> list[str]:
    """The names of the rules that reject the edits from one text to another, which have scores."""
    names: list[str] = []
    found = find_edits(text, changed)
    edits = [edit._replace(score=score) for edit, score in zip(found, scores or [0.0] * len(found), strict=True)]
    left = applied(rules, edits, Context(text, text, FILTER, KNOWN, english=True, latin=True), lambda _, name: names.append(name))
    assert len(left) + len(names) == len(edits)
    return names


@pytest.mark.parametrize(("text", "changed", "scores", "names"), CASES.the_first_rule_that_rejects_an_edit_is_named)
def test_the_first_rule_that_rejects_an_edit_is_named(text: str, changed: str, scores: list[float], names: list[str]) -> None:
    assert rejected(text, changed, *scores) == names


def test_names_are_different() -> None:
    names = [rule.name for rule in (*FIRST, *RULES, *LAST)]
    assert len(set(names)) == len(names)


def test_a_rule_gets_what_earlier_ones_left() -> None:
    first, second = EditRule("first", lambda edits, _: edits[1:]), EditRule("second", lambda edits, _: edits[1:])
    assert rejected("a b c", "x b z", rules=(first, second)) == ["first", "second"]
    assert applied([first], [Edit(0, 1, "a", "b")], Context("a", "a", FILTER, None, english=True, latin=True)) == []


def test_trace_names_the_rule() -> None:
    result = run("correct", "--threads", "1", "--trace", text=b"The Meaning of Life in Our Time\nhe go\nI definately agree.\n")
    assert result.stdout == "The Meaning of Life in Our Time\nhe go\nI definitely agree.\n"
    assert "x 'Meaning' -> 'meeting': title (score -" in result.stderr
    assert "x 'he go' -> 'He goes.': too many edits" in result.stderr
    assert "+ 'definately' -> 'definitely': misspelt-word (score " in result.stderr
