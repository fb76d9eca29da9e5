"""Alignment of the texts of a document with those of its translation by their lengths, numbers and markup."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.memories import translated_pairs
from specdec_cli.memories.translated_pairs import align, band_of

Texts = st.lists(st.text("ab 1", max_size=12), max_size=12)


def texts(count: int) -> list[str]:
    """Texts of different lengths, each with its number as letters."""
    lengths = random.Random(5)
    return [f"{''.join(chr(97 + int(digit)) for digit in str(number))} " + "wort " * lengths.randrange(1, 25) for number in range(count)]


@given(Texts, Texts)
def test_pairs_are_in_order_and_of_one_or_two_texts(sources: list[str], targets: list[str]) -> None:
    pairs = list(align(sources, targets))
    assert len(pairs) <= min(len(sources), len(targets))
    for side, whole in zip(zip(*pairs, strict=True), (sources, targets), strict=False):
        place = 0
        for text in side:
            ends = [
                index + size
                for index in range(place, len(whole))
                for size in (1, 2)
                if index + size <= len(whole) and " ".join(whole[index : index + size]) == text
            ]
            assert ends
            place = ends[0]


@given(Texts)
def test_equal_texts_are_paired_one_by_one(sources: list[str]) -> None:
    assert list(align(sources, sources)) == [(text, text) for text in sources]


def test_texts_that_one_side_lacks_are_left_out() -> None:
    sources = texts(400)
    targets = [text.upper() for number, text in enumerate(sources) if number % 40]
    pairs = list(align(sources, targets))
    right = sum(source.upper() == target for source, target in pairs)
    assert right > 350 and len(pairs) <= 390


def test_the_band_of_large_documents_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert band_of(400, 390) == 110 and band_of(20_000, 17_000) == 3100
    assert 100 < band_of(100_000, 66_700) <= 1000 and band_of(10**7, 9 * 10**6) == 100
    monkeypatch.setattr(translated_pairs, "_BAND", 4)
    monkeypatch.setattr(translated_pairs, "_MOST_CELLS", 10)
    sources = texts(200)
    pairs = list(align(sources, [text.upper() for text in sources[:100]]))
    assert band_of(200, 100) == 4 and 0 < len(pairs) <= 100


def test_numbers_and_markup_find_their_counterparts() -> None:
    sources = ["See page 4.", "A long text without any number.", "<g1>Next</g1> page"]
    assert list(align(sources, ["Siehe Seite 4.", "<g1>Seite danach</g1>"])) == [
        (sources[0], "Siehe Seite 4."),
        (sources[2], "<g1>Seite danach</g1>"),
    ]


def test_two_texts_for_one_are_joined() -> None:
    source = "A sentence of some length that was cut in two, since it is long. And here is the rest of it, which is long too."
    halves = ["Ein Satz von einiger L\u00e4nge, der geteilt wurde, weil er lang ist.", "Und hier ist der Rest von ihm, der auch lang ist."]
    assert list(align([source, "x"], [*halves, "x"])) == [(source, " ".join(halves)), ("x", "x")]
