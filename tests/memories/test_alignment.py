"""Alignment of two versions of a text."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.memories import previous
from specdec_cli.memories.previous import matching_blocks

pytest.importorskip("rapidfuzz")
Texts = st.lists(st.sampled_from("abcdefgh"), max_size=20)


def longest(old: Sequence[str], new: Sequence[str]) -> int:
    """The length of the longest common subsequence, by the textbook's table."""
    row = [0] * (len(new) + 1)
    for one in old:
        before = row
        row = [0]
        for place, other in enumerate(new):
            row.append(before[place] + 1 if one == other else max(row[-1], before[place + 1]))
    return row[-1]


@given(Texts, Texts, st.sampled_from([1, 4, 30, 2**29]))
@settings(deadline=None, max_examples=300)
def test_blocks_are_equal_rise_and_end_at_both_ends(old: list[str], new: list[str], largest: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(previous, "LARGEST", largest)
        blocks = list(matching_blocks(old, new))
    at = new_at = 0
    for start, new_start, length in blocks:
        assert start >= at and new_start >= new_at
        assert old[start : start + length] == new[new_start : new_start + length]
        at, new_at = start + length, new_start + length
    assert blocks[-1] == (len(old), len(new), 0)
    if largest == 2**29:
        assert sum(length for *_, length in blocks) == longest(old, new)


def test_long_texts_are_cut_at_sentences_that_occur_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previous, "LARGEST", 16)
    old, new = "x a a p b q c c y", "z a a q b c c r w"
    blocks = [block for block in matching_blocks(old.split(), new.split()) if block[2]]
    assert blocks == [(1, 1, 2), (4, 4, 1), (6, 5, 2)]


def test_many_repeated_sentences_keep_their_places() -> None:
    draw = random.Random(1)
    old = [f"Sentence {draw.randrange(100)}." for _ in range(10_000)]
    new = [f"Changed {place}." if place % 50 == 0 else sentence for place, sentence in enumerate(old)]
    blocks = list(matching_blocks(old, new))
    assert sum(length for *_, length in blocks) == 9800
    # A sentence next to a changed one may be equal to it.
    assert sum(length for start, new_start, length in blocks if start == new_start) > 9700


def test_long_texts_without_such_sentences_are_aligned_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previous, "LARGEST", 16)
    old, new = "x " + "a b c d " * 5 + "y", "z " + "a b c d " * 5 + "w"
    assert sum(length for *_, length in matching_blocks(old.split(), new.split())) == 20
