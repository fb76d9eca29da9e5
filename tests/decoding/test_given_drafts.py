"""Given drafts: greedy output for any text, and few rounds for texts that resemble it."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.drafters.copying import GivenDrafts, SourceCopy
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding, words
from specdec_cli.decoding.rounds import Onlooker
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.text.tokenize.sentencepiece import EOS, MASK
from tests.decoding.test_source_copy import WORD_STARTS
from tests.fake_drafters import TableVerifier
from tests.fakes import VOCABULARY

SOURCE = [8, 9, 10, EOS]
TEXT = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28]


def translate(
    pairs: Sequence[tuple[list[int], list[int]]],
    match: str = "nearest",
    batch_size: int = 1,
    first: int = 0,
    onlooker: Onlooker | None = None,
    max_length: int = 0,
) -> list[Hypothesis]:
    """Decode with a verifier whose outputs are the second of each pair, and the first as text to draft from; both without EOS."""
    table = torch.zeros(len(pairs), max(len(target) for _, target in pairs) + 1, VOCABULARY)
    for number, (_, target) in enumerate(pairs):
        for place, token in enumerate([*target, EOS]):
            table[number, place, token] = 1.0
    drafter = GivenDrafts(SourceCopy(match, EOS, WORD_STARTS))
    sentences = [Sentence(number, SOURCE, [*text, EOS], first) for number, (text, _) in enumerate(pairs)]
    found = decode_with(TableVerifier(table), drafter, sentences, Decoding(batch_size=batch_size, max_length=max_length), onlooker)
    return sorted(found, key=lambda hypothesis: hypothesis.number)


Tokens = st.lists(st.integers(MASK + 1, MASK + 8), max_size=80)
Outputs = st.lists(st.integers(MASK + 1, MASK + 8), min_size=1, max_size=14)


@given(st.lists(st.tuples(Tokens, Outputs), min_size=1, max_size=4), st.integers(1, 3), st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_any_text_gives_the_verifiers_output(pairs: list[tuple[list[int], list[int]]], batch_size: int, first: int) -> None:
    for match in words("match"):
        found = translate(pairs, match, batch_size, first)
        assert [h.ids for h in found] == [[*target, EOS] for _, target in pairs]
        assert all(1 <= h.rounds <= len(h.ids) for h in found)


@pytest.mark.parametrize(
    ("target", "rounds"),
    [
        (TEXT, 1),
        ([10, 12, 40, 16, 18, 20, 22, 24, 26, 28], 3),  # a word replaced: 3 tokens are drafted after it, then 7
        ([10, 12, 16, 18, 20, 22, 24, 26, 28], 3),  # a word dropped
        ([10, 12, 13, 14, 16, 18, 20, 22, 24, 26, 28], 3),  # a suffix added
    ],
)
def test_a_copy_continues_after_a_change(target: list[int], rounds: int) -> None:
    assert translate([(TEXT, target)])[0].rounds == rounds


def test_the_first_draft_is_bounded_and_drafts_grow_while_they_are_accepted() -> None:
    text, sizes = list(range(10, 40)), list[int]()
    found = translate([(text, text)], first=3, onlooker=lambda each: sizes.append(int(each.draft.counts[0])))
    assert (sizes, found[0].rounds) == ([3, 7, 15, 2], 4)


def test_a_text_that_does_not_resemble_the_output_is_drafted_once() -> None:
    target, sizes = list(range(30, 40)), list[int]()
    found = translate([(TEXT, target)], onlooker=lambda each: sizes.append(int(each.draft.counts[0])))
    assert sizes == [len(TEXT), *[0] * len(target)]
    assert found[0].rounds == len(target) + 1


def test_nothing_is_drafted_for_the_last_position() -> None:
    sizes = list[int]()
    found = translate([(TEXT, TEXT)], onlooker=lambda each: sizes.append(int(each.draft.counts[0])), max_length=6)
    assert (sizes, found[0].ids) == ([5], TEXT[:6])
