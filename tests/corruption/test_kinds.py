"""Each kind of error applied to a suitable sentence."""

import pytest

from specdec_cli.corruption.corrupter import KINDS, Corrupter, CorruptionRecipe, ErrorCounts
from tests.tables import tables

CASES = tables(__file__)

ONE_ERROR = ErrorCounts(mean=1.0, variance=0.0, limit=0.0001)

SPELLING = ("misspelling", "sound", "keyboard", "transposition", "letter_drop", "letter_double")


def outcomes(kind: str, text: str, tries: int = 60) -> set[str]:
    """The different results of a kind over several lines of the same text, without the text itself."""
    corrupter = Corrupter(CorruptionRecipe(0.0, ONE_ERROR, {kind: 1.0}), seed=1)
    corruptions = [corrupter.corrupt(text, number) for number in range(tries)]
    assert {error for corruption in corruptions for error in corruption.errors} <= {kind}
    return {corruption.text for corruption in corruptions} - {text}


@pytest.mark.parametrize(("kind", "text", "expected"), CASES.examples)
def test_each_kind_makes_the_expected_errors(kind: str, text: str, expected: list[str]) -> None:
    found = outcomes(kind, text)
    assert found
    assert found <= set(expected)


@pytest.mark.parametrize("kind", SPELLING)
def test_spelling_errors_change_one_word(kind: str) -> None:
    text = "They definitely received beautiful letters."
    words = text.rstrip(".").split()
    found = outcomes(kind, text)
    assert found
    for corrupted in found:
        others = corrupted.rstrip(".").split()
        assert len(others) == len(words)
        assert sum(one != other for one, other in zip(words, others, strict=True)) == 1


def test_every_kind_of_error_has_an_example() -> None:
    assert {kind for kind, _, _ in CASES.examples} | set(SPELLING) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_are_not_english_are_unchanged(kind: str) -> None:
    assert outcomes(kind, "12 3,500 http://the.example.org/an/a?in=of me@there.example.org $20", tries=20) == set()


def test_capitals_and_typographic_apostrophes_are_kept() -> None:
    assert outcomes("homophone", "THEIR house.") == set()
    assert outcomes("homophone", "It’s here.") == {"Its here.", "It’s hear."}  # noqa: RUF001
    assert outcomes("apostrophe", "We don’t.") == {"We dont.", "We do’nt."}  # noqa: RUF001
    assert outcomes("article_insert", "Students in Rome.") <= {"The students in Rome.", "Students in the Rome."}
    assert outcomes("word_order", "Never is it late.") <= {"Is never it late."}


def test_japanese_lines_have_no_errors_of_chinese_characters() -> None:
    for kind in ("character_drop", "character_insert", "character_confusion", "character_swap"):
        assert outcomes(kind, "\u4f1a\u8b70\u306f\uff0c\uff13\u6642\u3001\u59cb\u307e\u308b\u3002\u4ed6") == set()


def test_a_final_stop_of_chinese_stays() -> None:
    assert outcomes("character_confusion", "书。”") == set()
    assert outcomes("character_confusion", "买书。") == {"卖书。"}


def test_possibly_correct_changes_are_not_made() -> None:
    assert outcomes("agreement", "If I were you.") == set()
    assert outcomes("agreement", "You can have it.") == set()
    assert outcomes("preposition_swap", "I want to go.") == set()
    assert outcomes("tense", "She walked home.") == set()
    assert outcomes("comma_drop", "It cost 3,500 dollars.") == set()
