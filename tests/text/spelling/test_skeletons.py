"""Words with several misspelt vowels and doubled letters, and rare words that are formed of known ones."""

import pytest

from specdec_cli.english.words import is_formed
from specdec_cli.text.spelling.speller import Skeletons, distance, skeleton
from tests.tables import tables

TEXTS = tables(__file__)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("temparture", {"temperature": 2}),
        ("busnies", {"business": 2}),
        ("bisnes", {}),
        ("sofisticated", {"sophisticated": 2}),
        ("definelty", {"definitely": 3, "definite": 3}),
        ("trobull", {"trouble": 2}),
        ("imotions", {"emotions": 1}),
        ("pottesium", {"potassium": 2}),
        ("zzyzx", {}),
        ("run", {}),
    ],
)
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
