"""Lists of words: reading, files in bundles, damaged files."""

from pathlib import Path

import pytest

from specdec_cli.errors import InputError, ModelError
from specdec_cli.text.spelling.speller import FILE, Lexicon


def test_word_lists_give_all_words_but_possessives(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("house\nParis\nhouse's\nisn't\n")
    (tmp_path / "two.txt").write_text("caf\u00e9\n\nhouse\n", encoding="utf-8")
    assert Lexicon.of_lists([tmp_path / "one.txt", tmp_path / "two.txt"]).words == {"house", "isn't", "caf\u00e9", "Paris"}


def test_a_lexicon_is_stored_in_a_file(tmp_path: Path) -> None:
    words = {"house", "caf\u00e9", "isn't"}
    Lexicon(lambda: words).save(tmp_path / FILE)
    assert (tmp_path / FILE).read_text(encoding="utf-8") == "caf\u00e9\nhouse\nisn't\n"
    read = Lexicon.of_file(tmp_path / FILE)
    read.save(tmp_path / FILE)
    assert read.words == Lexicon.of_file(tmp_path / FILE).words == words


def test_bad_word_lists_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("house\nthe house\n")
    with pytest.raises(InputError, match=r"text\.txt, line 2: more than one word: 'the house'"):
        Lexicon.of_lists([tmp_path / "text.txt"])
    (tmp_path / "empty.txt").write_text("house's\n\n")
    with pytest.raises(InputError, match="no words"):
        Lexicon.of_lists([tmp_path / "empty.txt"])


def test_damaged_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"{FILE}: no such file"):
        Lexicon.of_file(tmp_path / FILE)
    (tmp_path / FILE).write_bytes(b"caf\xe9\n")
    with pytest.raises(ModelError, match=FILE):
        assert Lexicon.of_file(tmp_path / FILE).words
