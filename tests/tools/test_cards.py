"""The cards of the shipped models: figures and examples come from the dev sets."""

import lzma
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools import cards
from tools.cards import EXAMPLES, SEED, Decoded, decode, examples
from tools.pages import ROOT


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The command lines that were run, by a decoder that copies its input."""
    commands: list[list[str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, options["input"], "")

    monkeypatch.setattr("tools.cards.subprocess.run", run)
    return commands


def test_faults_of_outputs_are_counted() -> None:
    sources = ("It is 5 or 6, at 8pm.", "I saw Tom and Ann.", "no no no", "a")
    outputs = ("Es ist 5, um 20 Uhr.", "Ich sah Tom und und und.", "no no no", " ")
    decoded = Decoded("set", sources, outputs, ("Es ist 5 oder 6, um 20 Uhr.", "Ich sah Tom und Anna .", "nein", "b"))
    assert (decoded.empty, decoded.repeated) == (1, 1)
    assert cards.numbers_kept(decoded) == "2 of 3"
    assert cards.names_kept(decoded) == "1 of 1"


def test_a_decoder_must_give_a_line_for_each_line(copied: list[list[str]]) -> None:
    assert decode("specdec translate --no-split", ["a", "b"]) == ("a", "b")
    assert copied[0][1:] == ["-m", "specdec_cli", "translate", "--no-split", "--quiet"]
    with pytest.raises(ValueError, match="2 lines of output for 1 of input"):
        decode("specdec translate", ["a\nb"])


def test_examples_are_drawn_with_the_stated_seed() -> None:
    lines = tuple(f"line {number}" for number in range(50))
    text = examples([Decoded("set", lines, lines, ("a|b",) * 50)])
    assert text == examples([Decoded("set", lines, lines, ("a|b",) * 50)]) and f"random.Random({SEED})" in text
    assert text.count("| set | line") == EXAMPLES and "a\\|b" in text and "20 of all 50 lines" in text


def test_a_translator_is_scored_on_every_dev_set(copied: list[list[str]], tmp_path: Path) -> None:
    (tmp_path / "en-de").mkdir()
    for name in cards.SETS:
        (tmp_path / "en-de" / f"dev.{name}.tsv").write_text("one two three four five\tone two three four five\n")
    text, decoded = cards.translation("en-de", tmp_path)
    assert len(copied) == len(decoded) == len(cards.SETS)
    assert "| Tatoeba | 1 | 100.00 | 100.00 | 0 | 0 | 0 of 0 | 0 of 0 |" in text


def test_a_corrector_is_scored_in_every_mode(copied: list[list[str]], tmp_path: Path) -> None:
    folder = tmp_path / "en-gec"
    (folder / "dev.jfleg").mkdir(parents=True)
    (folder / "dev.jfleg" / "source").write_text("He go home .\n")
    (folder / "dev.jfleg" / "reference0").write_text("He goes home .\n")
    (folder / "dev.cweb-g.m2").write_text("S He go home .\nA 1 2|||R|||goes|||REQUIRED|||-NONE-|||0\n")
    with lzma.open(folder / "clean.tsv.xz", "wt") as stream:
        stream.writelines(f"wiki\tLine {number}.\n" for number in range(1, 1801))
    text, decoded = cards.correction(tmp_path)
    assert [command[command.index("--mode") + 1] for command in copied[::4]] == list(cards.MODES)
    assert text.count("| 2 of 2 | 0 of 100 | 0 | 0 |") == 3
    assert [(one.name, one.references) for one in decoded] == [("JFLEG", ("He goes home.",)), ("CWEB-G", ("He goes home.",))]


def test_the_parts_of_a_card_are_filled(tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_text("".join(f"<!-- generated: {part} -->\nold\n<!-- end of generated part -->\n" for part in ("figures", "examples")))
    cards.fill(card, "new figures\n", "new examples\n")
    assert "new figures" in card.read_text() and "new examples" in card.read_text() and "old" not in card.read_text()
    with pytest.raises(SystemExit):
        cards.main([str(tmp_path), "xx-yy"])


@pytest.mark.parametrize("name", ["de-en", "en-de", "en-gec"])
def test_the_shipped_cards_have_figures_and_examples(name: str) -> None:
    card = (ROOT / "specdec_cli" / "bundles" / name / "README.md").read_text(encoding="utf-8")
    assert f"python -m tools.cards DATA {name}" in card
    assert f"{EXAMPLES} of all" in card and f"random.Random({SEED})" in card
