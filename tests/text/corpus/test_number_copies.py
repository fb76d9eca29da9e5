"""Copies of pairs with other numbers and times, in both directions."""

import random
import re
from functools import partial

import pytest

from specdec_cli.text.corpus.augmentation import times, with_copies, with_other_numbers, with_other_quantities
from specdec_cli.text.corpus.cleaning import CleaningReport, CleaningRules, clean
from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.locale.quantities import find_quantities
from tests.tables import tables

CASES = tables(__file__)

PAIRS, TIMES = ([Pair(source, target, "web") for source, target in table] for table in (CASES.numbers, CASES.times))


def turned(pair: Pair) -> Pair:
    """The pair in the other direction."""
    return Pair(pair.target, pair.source, pair.domain)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("languages", [("en", "de"), ("de", "en")])
def test_copies_have_the_same_other_numbers_on_both_sides(pair: Pair, languages: tuple[str, str]) -> None:
    pair = pair if languages[0] == "en" else turned(pair)
    draw, seen = random.Random(4), set[Pair]()
    for _ in range(60):
        copy = with_other_numbers(pair, draw, languages)
        sides = zip((copy.source, copy.target), languages, strict=True)
        values = [sorted(each.value for each in find_quantities(text, language)) for text, language in sides]
        assert values[0] == values[1] and len(values[0]) == len(find_quantities(pair.source, languages[0]))
        assert re.sub(r"[\d.,]+", "0", copy.source) == re.sub(r"[\d.,]+", "0", pair.source)
        assert copy.domain == "web"
        seen.add(copy)
    assert len(seen) > 30


@pytest.mark.parametrize("pair", TIMES)
@pytest.mark.parametrize("languages", [("en", "de"), ("de", "en")])
def test_copies_have_the_same_other_times(pair: Pair, languages: tuple[str, str]) -> None:
    pair = pair if languages[0] == "en" else turned(pair)
    copies = list(with_copies([pair], 60, partial(with_other_quantities, languages=languages)))
    assert copies[0] == pair and len(set(copies)) == len(copies) > 40
    for copy in copies[1:]:
        english, german = (copy.source, copy.target) if languages[0] == "en" else (copy.target, copy.source)
        assert [time.minutes for time in times(english, "en")] == [time.minutes for time in times(german, "de")]
        assert re.search(r"[ap]\.?m", english, re.IGNORECASE) and not re.search(r"\d ?[ap]\.?m", german, re.IGNORECASE)


@pytest.mark.parametrize(("source", "target"), CASES.pairs_whose_numbers_cannot_change_have_no_copies)
def test_pairs_whose_numbers_cannot_change_have_no_copies(source: str, target: str) -> None:
    pair = Pair(source, target)
    assert list(with_copies([pair], 5, with_other_quantities)) == [pair]


def test_years_stay_years() -> None:
    draw = random.Random(5)
    for _ in range(60):
        copy = with_other_numbers(Pair("He died in 1987.", "Er starb 1987."), draw)
        assert re.fullmatch(r"He died in (1[89]\d\d|20\d\d)\.", copy.source)


def test_copies_are_the_same_for_a_seed() -> None:
    pairs = [*PAIRS, *TIMES]
    assert list(with_copies(pairs, 3, with_other_quantities)) == list(with_copies(pairs, 3, with_other_quantities))


def test_repaired_pairs_are_counted() -> None:
    report = CleaningReport()
    pairs = [Pair("1,500 cows", "1,500 Kühe"), Pair("1,600 cows", "1.600 Kühe"), Pair("1,500 cows", "1.500 Kühe")]
    found = list(clean(pairs, CleaningRules(repair_numbers=True), report))
    assert [pair.target for pair in found] == ["1.500 Kühe", "1.600 Kühe"]
    assert (report.repaired, report.dropped) == (1, {"duplicate": 1})
