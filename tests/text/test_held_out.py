"""Sentences of dev and test sets are recognised in training text."""

from pathlib import Path

from specdec_cli.text.held_out import HeldOut
from specdec_cli.text.parallel import Pair


def test_either_side_is_held_out_whatever_its_case_and_punctuation(tmp_path: Path) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text("talk\tGood morning!\tGuten Morgen!\ntalk\t...\t?\n", encoding="utf-8")
    held_out = HeldOut([dev])
    assert held_out.holds(Pair("good  morning", "Moin."))
    assert held_out.holds(Pair("Morning.", "guten morgen"))
    assert not held_out.holds(Pair("Good evening!", "Guten Abend!"))
    assert not held_out.holds(Pair("talk", "Gespräch"))  # the domain is no sentence
    assert not held_out.holds(Pair("!", "-"))  # nothing but punctuation is no sentence either


def test_plain_text_is_held_out_too(tmp_path: Path) -> None:
    (tmp_path / "dev.en").write_text("One sentence.\n", encoding="utf-8")
    assert HeldOut([tmp_path / "dev.en"]).holds(Pair("One sentence", "Ein Satz"))
    assert not HeldOut([]).holds(Pair("", ""))
