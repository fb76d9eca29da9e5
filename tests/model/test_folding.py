"""Sentences in generation order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.model.order import Order, fold, folded_positions, tokens_per_step, unfold
from tests.fakes import ORDERS

END = 3
WORDS = st.lists(st.integers(4, 9), max_size=12)


@given(words=WORDS, order=st.sampled_from(ORDERS))
def test_unfolding_is_the_inverse_of_folding(words: list[int], order: Order) -> None:
    folded = fold(words, order, END)
    assert unfold(folded, order, END) == words
    assert len(folded) % tokens_per_step(order) == 0
    assert folded[: len(words)].count(END) == 0
    assert 1 <= folded.count(END) == len(folded) - len(words) <= tokens_per_step(order)


@given(words=WORDS, steps=st.integers(0, 6), order=st.sampled_from(ORDERS))
def test_unfinished_sentences_are_unfolded(words: list[int], steps: int, order: Order) -> None:
    written = min(steps * tokens_per_step(order), len(words))
    left, right = {"left": (written, 0), "right": (0, written), "both": (written - written // 2, written // 2)}[
        "both" if order == "bidirectional" else "right" if "right-to" in order else "left"
    ]
    assert unfold(fold(words, order, END)[:written], order, END) == words[:left] + words[len(words) - right :]


@pytest.mark.parametrize(
    ("order", "even", "odd"),
    [
        ("left-to-right", "we will go to Tokyo . #", "go to Tokyo #"),
        ("right-to-left", ". Tokyo to go will we #", "Tokyo to go #"),
        ("double-left-to-right", "we will go to Tokyo . # #", "go to Tokyo #"),
        ("double-right-to-left", ". Tokyo to go will we # #", "Tokyo to go #"),
        ("bidirectional", "we . will Tokyo go to # #", "go Tokyo to #"),
    ],
)
def test_the_example_of_the_paper_is_folded(order: Order, even: str, odd: str) -> None:
    for folded, sentence in ((even, "we will go to Tokyo ."), (odd, "go to Tokyo")):
        ended = [*sentence.split(), "#"]
        assert [ended[place] for place in folded_positions(len(ended) - 1, order)] == folded.split()
