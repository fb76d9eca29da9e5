"""Corrected lines in M2 format: tokens, types, and what ERRANT's own tokens are."""

import pytest

from specdec_cli.error_types.annotation import tokenized, with_types
from specdec_cli.error_types.m2 import m2_block
from specdec_cli.text.corpus.parallel import apply_gold_edits, read_m2
from specdec_cli.text.edits import Edit, find_edits
from tests.command_line import run
from tests.tables import tables

CASES = tables(__file__)

NOOP = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0"


def edits_of(source: str, changed: str) -> list[Edit]:
    return with_types(source, find_edits(source, changed))


@pytest.mark.parametrize(("source", "changed", "expected"), CASES.edits_are_of_tokens_and_have_types)
def test_edits_are_of_tokens_and_have_types(source: str, changed: str, expected: list[str]) -> None:
    _, *lines, last = m2_block(source, edits_of(source, changed))
    assert last == ""
    assert lines == ([f"A {each}|||REQUIRED|||-NONE-|||0" for each in expected] or [NOOP])


def test_edits_that_share_a_token_are_one() -> None:
    edits = [Edit(0, 2, "An", "A", types=("R:DET",)), Edit(5, 6, "x", "y", types=("R:SPELL",)), Edit(7, 8, "z", "w", types=("R:SPELL",))]
    assert m2_block("An abxczd car", edits) == [
        "S An abxczd car",
        "A 0 1|||R:DET|||A|||REQUIRED|||-NONE-|||0",
        "A 1 2|||R:SPELL|||abycwd|||REQUIRED|||-NONE-|||0",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Mr. Smith and Dr. No met in the U.S. at 3 p.m.", "Mr. Smith and Dr. No met in the U.S. at 3 p.m."),
        ("We live on a St.", "We live on a St ."),
        ("On the 3rd of May, the 1990s--or so...", "On the 3rd of May , the 1990s -- or so ..."),
        ("CO2 can't be well-known, e.g. here.", "CO2 ca n't be well - known , e.g. here ."),
        ("It costs 3.50, at 10:30.", "It costs 3.50 , at 10:30 ."),
    ],
)
def test_tokens_are_those_of_errant(text: str, tokens: str) -> None:
    assert [token.text for token in tokenized(text)] == tokens.split()


def test_the_command_writes_blocks_that_the_reader_of_m2_reads(tmp_path_factory: pytest.TempPathFactory) -> None:
    text = "There is many reasons to be happy.\nEverything in this line is right.\nShe don't like coffee, and he have no tea.\n"
    result = run("correct", "--m2", "--threads", "1", text=text)
    path = tmp_path_factory.mktemp("m2") / "out.m2"
    path.write_text(result.stdout, encoding="utf-8")
    assert result.stdout.split("\n\n")[0].splitlines() == [
        "S There is many reasons to be happy .",
        "A 1 2|||R:VERB:SVA|||are|||REQUIRED|||-NONE-|||0",
    ]
    read = list(read_m2(path))
    corrected = [" ".join(apply_gold_edits(each.source, each.annotators[0])) for each in read]
    assert corrected == [
        "There are many reasons to be happy .",
        "Everything in this line is right .",
        "She does n't like coffee , and he has no tea .",
    ]
