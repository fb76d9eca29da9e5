"""Pairs with other numbers and names."""

import re

import pytest

from specdec_cli.text.corpus.augmentation import Variation
from specdec_cli.text.corpus.cleaning import CleaningReport, CleaningRules, clean
from specdec_cli.text.corpus.parallel import Pair

PAIRS = [
    *(Pair(f"I saw Paula and {name}.", f"Ich sah Paula und {name}.") for name in ("Quentin", "Zora", "Bertil")),
    Pair("It is Monday, said Paula.", "Es ist Montag, sagte Paula."),
]


def test_numbers_of_both_sides_become_the_same_other_numbers() -> None:
    vary = Variation(PAIRS, share=1)
    seen = set()
    for _ in range(50):
        varied = vary(Pair("Room 27, 3 beds, 0123", "Zimmer 27, 3 Betten, 0123", "woz"))
        numbers = re.fullmatch(r"Room (\d\d), (\d) beds, (0\d{3})", varied.source)
        assert numbers
        assert varied.target == "Zimmer {}, {} Betten, {}".format(*numbers.groups())
        assert varied.domain == "woz"
        seen.add(numbers[1])
    assert len(seen) > 10


def test_pairs_with_other_numbers_keep_them() -> None:
    pair = Pair("At 3", "Um 15 Uhr")
    assert Variation(PAIRS, share=1)(pair) == pair


@pytest.mark.parametrize("text", ["1 of 1", "the 1st and the 23rd", "&#39;now&#39;", "%2$s and %3$d", "B52"])
def test_numbers_with_a_meaning_are_kept(text: str) -> None:
    pair = Pair(text, text)
    assert Variation(PAIRS, share=1)(pair) == pair


def test_different_numbers_and_names_stay_different() -> None:
    vary = Variation([Pair(f"I saw {name}x.", f"Ich sah {name}x.") for name in ("Aba", "Beb", "Cec", "Ded", "Efe")], share=1)
    for _ in range(50):
        varied = vary(Pair("2 3 4 5 for Abax and Bebx", "2 3 4 5 für Abax und Bebx"))
        words = varied.source.split()
        assert len(set(words)) == len(words)
        assert "1" not in words
        assert varied.target == varied.source.replace("for", "für").replace("and", "und")
    assert vary.varied == 50


def test_names_become_others_of_the_text() -> None:
    vary = Variation(PAIRS, share=1)
    for _ in range(20):
        varied = vary(Pair("Then Zora met Zora on Monday.", "Dann traf Zora Zora am Montag."))
        found = re.fullmatch(r"Then (\w+) met (\w+) on Monday\.", varied.source)
        assert found
        assert found[1] == found[2] in ("Paula", "Quentin", "Zora", "Bertil")
        assert varied.target == f"Dann traf {found[1]} {found[1]} am Montag."


def test_words_in_lower_case_elsewhere_are_no_names() -> None:
    pairs = [Pair("I saw Rose", "Ich sah Rose"), Pair("the rose", "die rose")]
    assert Variation(pairs, share=1)(pairs[0]) == pairs[0]


def test_the_share_is_that_of_the_pairs_changed() -> None:
    vary = Variation(PAIRS, share=0.25)
    pair = Pair("Room 12345678", "Zimmer 12345678")
    changed = sum(vary(pair) != pair for _ in range(2_000))
    assert 400 < changed < 600  # 500 expected; the standard deviation is 19


def test_pairs_with_other_numbers_are_dropped_on_request() -> None:
    pairs = [Pair("1 and 2", "2 und 1"), Pair("1 and 2", "1 und 3")]
    report = CleaningReport()
    assert list(clean(pairs, CleaningRules(same_numbers=True), report)) == pairs[:1]
    assert report.dropped == {"other numbers": 1}
