"""Sentences of dev and test sets are found in training text."""

from pathlib import Path

import pytest

from specdec_cli.errors import InputError
from specdec_cli.text.corpus.cleaning import HeldOut
from specdec_cli.text.corpus.parallel import Pair


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


def test_m2_files_hold_out_originals_and_the_corrections_of_every_annotator(tmp_path: Path) -> None:
    dev, edit = tmp_path / "dev.m2", "A {} {}|||R|||{}|||REQUIRED|||-NONE-|||{}\n"
    dev.write_text("S He do n't goes .\n" + edit.format(1, 2, "does", 0) + edit.format(3, 4, "go", 0) + edit.format(1, 4, "stays", 1))
    held_out = HeldOut([dev])
    for sentence in ("He don't goes.", "He doesn't go.", "He stays."):
        assert held_out.holds(Pair("other", sentence)), sentence
    assert not held_out.holds(Pair("He does not go.", "S"))
    dev.write_text("S He goes .\n" + edit.format(0, 2, "She", 0) + edit.format(1, 3, "went .", 0))
    with pytest.raises(InputError, match=r"dev\.m2: He goes \.: the edit of tokens 1 to 3 overlaps"):
        HeldOut([dev])
