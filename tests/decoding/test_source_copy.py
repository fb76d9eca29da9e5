"""Input-guided drafting: greedy output, and the rules by which a copy continues after a change."""

from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.copying import SourceCopy
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding, words
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, MASK
from tests.fake_drafters import TableVerifier
from tests.fakes import VOCABULARY

WORD_STARTS = torch.arange(VOCABULARY) % 2 == 0
"""Even ids begin a word, odd ones continue it."""
MATCHES = words("match")


def copier(match: str, block_size: int = 0) -> SourceCopy:
    return SourceCopy(match, EOS, WORD_STARTS, block_size)


def rewrite(pairs: Sequence[tuple[list[int], list[int]]], drafter: Drafter, batch_size: int = 1) -> list[Hypothesis]:
    """Decode sources with a verifier whose outputs are the targets; both without EOS."""
    longest = max(len(target) for _, target in pairs) + 1
    table = torch.zeros(len(pairs), longest, VOCABULARY)
    for number, (_, target) in enumerate(pairs):
        for place, token in enumerate([*target, EOS]):
            table[number, place, token] = 1.0
    sentences = [Sentence(number, [*source, EOS]) for number, (source, _) in enumerate(pairs)]
    found = decode_with(TableVerifier(table), drafter, sentences, Decoding(batch_size=batch_size))
    return sorted(found, key=lambda hypothesis: hypothesis.number)


def rounds_of_algorithm_1(source: list[int], target: list[int]) -> int:
    """Rounds of Algorithm 1 of the technical report, both beginning with the same token (its o0 = x0)."""
    x, expected, o, rounds = [BOS, *source], [*target, EOS], [BOS], 0
    while o[-1] != EOS:
        suffixes = [o[-length:] for length in range(1, len(o) + 1)]
        places = [[i for i in range(len(x)) if x[max(i + 1 - len(suffix), 0) : i + 1] == suffix] for suffix in suffixes]
        draft = next((x[found[0] + 1 :] for found in places if len(found) == 1), [])
        k = 0
        while k < len(draft) and draft[k] == expected[len(o) - 1 + k]:
            k += 1
        o, rounds = [BOS, *expected[: len(o) + k]], rounds + 1
    return rounds


def rounds_of_published_code(source: list[int], target: list[int]) -> int:
    """Rounds of the report's published code: a suffix has up to three tokens, and the first draft is the whole source."""
    expected, output, rounds, start = [*target, EOS], list[int](), 0, 0
    while not output or output[-1] != EOS:
        draft = source[start:] if start >= 0 else []
        agreed = 0
        while agreed < len(draft) and draft[agreed] == expected[len(output) + agreed]:
            agreed += 1
        output += expected[len(output) : len(output) + agreed + 1]
        rounds, start = rounds + 1, -1
        for length in range(1, min(3, len(output)) + 1):
            ends = [i + length for i in range(len(source)) if source[i : i + length] == output[-length:]]
            if len(ends) == 1:
                start = ends[0]
            if len(ends) <= 1:
                break
    return rounds


Tokens = st.lists(st.integers(MASK + 1, MASK + 8), min_size=1, max_size=14)
Few = st.lists(st.integers(MASK + 1, MASK + 2), min_size=1, max_size=15)
"""Sequences of two different tokens, in which suffixes often repeat."""
Repeated = st.lists(st.tuples(Few, Few) | st.tuples(Tokens, Tokens), min_size=1, max_size=4)


@given(st.lists(st.tuples(Tokens, Tokens), min_size=1, max_size=4), st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_source_copies_give_the_verifiers_output(pairs: list[tuple[list[int], list[int]]], batch_size: int) -> None:
    for match in MATCHES:
        found = rewrite(pairs, copier(match), batch_size)
        assert [h.ids for h in found] == [[*target, EOS] for _, target in pairs]


@given(Repeated, st.integers(1, 3))
@settings(deadline=None, max_examples=100)
def test_rounds_equal_those_of_the_published_algorithm_and_code(pairs: list[tuple[list[int], list[int]]], batch_size: int) -> None:
    rules: dict[str, Callable[[list[int], list[int]], int]] = {"unique": rounds_of_algorithm_1, "unique-3": rounds_of_published_code}
    for match, rounds in rules.items():
        found = rewrite(pairs, copier(match), batch_size)
        assert [h.rounds for h in found] == [rounds(source, target) for source, target in pairs]


def test_the_published_code_matches_at_most_three_tokens() -> None:
    pair = ([10, 10, 11, 12, 12, 11, 12, 12, 11, 12], [12, 11, 12, 12, 11, 12, 11])
    assert [rewrite([pair], copier(match))[0].rounds for match in ("unique", "unique-3")] == [6, 8]


def test_a_suffix_may_be_the_whole_output() -> None:
    # After the first draft, cut to one token, the output is "10 11": twice in the source, but once at its start.
    source = [10, 11, 10, 11, 12]
    assert [rewrite([(source, source)], copier(match, 1))[0].rounds for match in ("unique", "unique-3")] == [3, 4]


@pytest.mark.parametrize("match", MATCHES)
def test_an_unchanged_sentence_takes_one_round(match: str) -> None:
    source = list(range(8, 20))
    assert rewrite([(source, source)], copier(match))[0].rounds == 1
    assert rewrite([(source, source)], copier(match, block_size=4))[0].rounds == 3


SOURCE = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28]
AGAIN = [10, 12, 14, 12, 18, 12, 22, 24, 12, 28]


@pytest.mark.parametrize(
    ("source", "target", "nearest", "unique"),
    [
        (SOURCE, [10, 12, 40, 16, 18, 20, 22, 24, 26, 28], 2, 3),  # a word replaced by one that is not in the source
        (SOURCE, [10, 12, 40, 41, 16, 18, 20, 22, 24, 26, 28], 3, 4),  # by a word of two pieces
        (SOURCE, [10, 12, 16, 18, 20, 22, 24, 26, 28], 2, 2),  # a word dropped
        (AGAIN, [10, 14, 12, 18, 12, 22, 24, 12, 28], 2, 2),
        (SOURCE, [10, 12, 13, 14, 16, 18, 20, 22, 24, 26, 28], 2, 3),  # a suffix added to a word
        ([10, 12, 13, 14, 16], [10, 12, 14, 16], 2, 2),  # and taken away
        ([10, 11, 12, 13, 14, 16], [10, 15, 12, 13, 14, 16], 2, 3),  # a part of a word replaced
        (AGAIN, [10, 12, 14, 12, 20, 12, 22, 24, 12, 28], 2, 4),  # after which the next word stands in several places
    ],
)
def test_a_copy_continues_after_a_change(source: list[int], target: list[int], nearest: int, unique: int) -> None:
    assert rewrite([(source, target)], copier("nearest"))[0].rounds == nearest
    assert rewrite([(source, target)], copier("unique"))[0].rounds == unique


@pytest.mark.parametrize("match", MATCHES)
def test_a_sentence_may_come_with_a_text_that_is_copied(match: str) -> None:
    source, text = list(range(8, 20)), list(range(20, 40))
    table = torch.zeros(2, len(text) + 1, VOCABULARY)
    for number, target in enumerate((text, source)):
        for place, token in enumerate([*target, EOS]):
            table[number, place, token] = 1.0
    sentences = [Sentence(0, [*source, EOS], copy=[*text, EOS]), Sentence(1, [*source, EOS])]
    found = {h.number: (h.ids, h.rounds) for h in decode_with(TableVerifier(table), copier(match), sentences, Decoding(batch_size=2))}
    assert found == {0: ([*text, EOS], 1), 1: ([*source, EOS], 1)}


def test_a_wrong_draft_costs_no_round() -> None:
    target = list(range(30, 40))
    assert rewrite([(SOURCE, target)], copier("nearest"))[0].rounds == len(target) + 1
