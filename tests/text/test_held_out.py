"""Sentences of dev and test sets are found in training text."""

from pathlib import Path

from specdec_cli.text.held_out import HeldOut
from specdec_cli.text.parallel import Pair


def test_pairs_are_held_out_by_either_side_without_case_and_punctuation(tmp_path: Path) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text("talk\tGood morning!\tGuten Morgen!\ntalk\t...\t?\n", encoding="utf-8")
    held_out = HeldOut([dev])
    assert held_out.holds(Pair("good  morning", "Moin."))
    assert held_out.holds(Pair("Morning.", "guten morgen"))
    assert not held_out.holds(Pair("Good evening!", "Guten Abend!"))
    assert not held_out.holds(Pair("talk", "Gespräch"))  # the domain is not held out
    assert not held_out.holds(Pair("!", "-"))  # nor is punctuation alone


def test_plain_text_files_are_held_out(tmp_path: Path) -> None:
    (tmp_path / "dev.en").write_text("One sentence.\n", encoding="utf-8")
    assert HeldOut([tmp_path / "dev.en"]).holds(Pair("One sentence", "Ein Satz"))
    assert not HeldOut([]).holds(Pair("", ""))
