"""Domains are mixed by a temperature."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.corpus.augmentation import repeated, repetitions
from specdec_cli.text.corpus.parallel import Pair

COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 300), min_size=1)


@given(COUNTS, st.floats(1, 10))
def test_shares_are_proportional_to_the_root_of_the_counts(counts: dict[str, int], temperature: float) -> None:
    pairs = [Pair(str(number), "", domain) for domain, count in counts.items() for number in range(count)]
    made = Counter(pair.domain for pair in repeated(pairs, repetitions(counts, temperature)))
    largest = max(counts.values())
    for domain, count in counts.items():
        assert made[domain] == pytest.approx(largest * (count / largest) ** (1 / temperature), abs=1.01)


@given(COUNTS)
def test_a_temperature_of_one_changes_nothing(counts: dict[str, int]) -> None:
    pairs = [Pair(str(number), "", domain) for domain, count in counts.items() for number in range(count)]
    assert list(repeated(pairs, repetitions(counts, 1.0))) == pairs


def test_every_pair_is_repeated_about_equally_often() -> None:
    pairs = [Pair(str(number), "", "a") for number in range(10)]
    assert Counter(Counter(pair.source for pair in repeated(pairs, {"a": 2.5})).values()) == {2: 5, 3: 5}
