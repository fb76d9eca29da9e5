"""The rules that reject edits, their order and their names."""

import pytest
from typer.testing import CliRunner

from specdec_cli.app import app
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.edit_rules import FIRST, LAST, RULES, Context, EditRule, applied
from specdec_cli.text.edits import Edit, find_edits
from specdec_cli.text.spelling.ngram_counting import count_ngrams

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


@pytest.mark.parametrize(
    ("text", "changed", "scores", "names"),
    [
        ("See `cat` and the cat", "See `cats` and the cats", (), ["protected"]),
        ("Go to http://cat.org by the house", "Go to http://cat.com by the houses", (), ["protected"]),
        ("The cat see the house", "The cats see the houses", (-0.5, -2.5), ["low score"]),
        ("The cat see the house", "The cats see the houses", (-1.5, -1.5), ["low score alone", "low score alone"]),
        ("The cat see the house", "The cats see the houses", (-0.5, -1.5), []),
        ("The 12 cats see the house", "The 13 cats see the houses", (), ["lost content"]),
        ("The cat and the house", "The house", (), ["lost content"]),
        ("The \ufb01rst … word", "The first ... word", (), ["normal form"]),
        ("It costs ½ £ now", "It costs 1\u20442 £ now", (), ["normal form"]),
        ("The cat see the house", "The cattzes see the house", (), ["unknown word"]),
        ("The Meaning Of Life And Cats", "The Meaning Of life And Cats", (), ["title"]),
        ("The House By Cats", "The House Of Cats", (), ["title"]),
        ("The House And Cats", "The House And The Cats", (), ["title"]),
        ("How to Cook a Fish in Ten Minutes", "How to Cook a Fish in Ten Minutes.", (), ["title"]),
        ("Where to Find the Best Bread", "Where to Find the Best Bread?", (), ["title"]),
        ("What to Do in the House", "What to Do in the House!", (), ["title"]),
        ("The Meaninng Of Life And Cats", "The Meaning Of Life And Cats", (), []),
        ("The team are in the house", "The team is in the house", (), ["form"]),
        ("cats see houses near by", "the cats see the houses near by", (), ["form", "form"]),
        ("the cats see the house", "The cats see the house", (), ["small letters"]),
        ("the cats see the house.", "The cats see the house.", (), []),
        ("the cat see the house", "The cat see the houses", (), []),
        ("The House And And Cats", "The House And Cats", (), []),
        ("The Cats And A Old House", "The Cats And An Old House", (), []),
    ],
)
def test_the_first_rule_that_rejects_an_edit_is_named(text: str, changed: str, scores: tuple[float, ...], names: list[str]) -> None:
    assert rejected(text, changed, *scores) == names


def test_names_are_different() -> None:
    names = [rule.name for rule in (*FIRST, *RULES, *LAST)]
    assert len(set(names)) == len(names)


def test_a_rule_gets_what_earlier_ones_left() -> None:
    first, second = EditRule("first", lambda edits, _: edits[1:]), EditRule("second", lambda edits, _: edits[1:])
    assert rejected("a b c", "x b z", rules=(first, second)) == ["first", "second"]
    assert applied([first], [Edit(0, 1, "a", "b")], Context("a", "a", FILTER, None, english=True, latin=True)) == []


def test_trace_names_the_rule() -> None:
    result = CliRunner().invoke(
        app, ["correct", "--threads", "1", "--trace"], input=b"The Meaning of Life in Our Time\nhe go\nI definately agree.\n"
    )
    assert result.stdout == "The Meaning of Life in Our Time\nhe go\nI definitely agree.\n"
    assert "x 'Meaning' -> 'meeting': title (score -" in result.stderr
    assert "x 'he go' -> 'He goes.': too many edits" in result.stderr
    assert "+ 'definately' -> 'definitely': misspelt-word (score " in result.stderr
