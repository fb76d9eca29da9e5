"""Lists of words: their files, words that are formed of theirs, and words with several misspelt vowels and doubled letters."""

from pathlib import Path

import pytest

from specdec_cli.english.words import is_formed
from specdec_cli.errors import InputError, ModelError
from specdec_cli.text.spelling.speller import FILE, Lexicon, Skeletons, distance, skeleton
from tests.tables import tables

TEXTS = tables(__file__)


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


@pytest.mark.parametrize(("word", "found"), TEXTS.words_with_similar_consonants_are_found)
def test_words_with_similar_consonants_are_found(word: str, found: dict[str, int]) -> None:
    assert dict(Skeletons(lambda: sorted(TEXTS.lexicon)).similar(word)) == found


def test_a_skeleton_has_no_vowels_and_no_doubled_letters() -> None:
    assert [skeleton(word) for word in ("possibility", "photo", "emotion", "quick")] == ["psblt", "ft", "amsn", "k"]


@pytest.mark.parametrize(
    ("first", "second", "letters"), [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("", "ab", 2), ("cat", "dog", 3)]
)
def test_the_distance_counts_letters(first: str, second: str, letters: int) -> None:
    assert distance(first, second) == distance(second, first) == letters


@pytest.mark.parametrize(
    ("word", "formed"),
    [("untucked", True), ("fastball", True), ("contentless", True), ("deepest", False), ("reball", True), ("bisnes", False)],
)
def test_formed_words_are_recognised(word: str, formed: bool) -> None:
    assert is_formed(word, set(TEXTS.lexicon)) == formed
