"""Drafters without training: Jacobi iteration, lookup, n-gram memory, and chains."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
import torch

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.fallback import SHORTEST, Fallback
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.suffix import Lookup, NgramMemory
from specdec_cli.decoding.lengths import by_source
from specdec_cli.decoding.loop import OWN_SIZE, decode_with
from specdec_cli.decoding.options import Decoding, Exact
from specdec_cli.decoding.pace import AdaptivePace, Pace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Draft, State
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.fake_drafters import FakeDrafter, drafts, right, wrong
from tests.fakes import VOCABULARY, make_sentences, tiny_transformer

LONGEST = 30
EXACT = Exact()


def memory() -> NgramMemory:
    return NgramMemory(3, VOCABULARY, torch.device("cpu"))


def lookup(block_size: int = 5) -> Lookup:
    return Lookup(block_size, EOS, PADDING)


FREE = Costs((3, 9), (1.0, 1.0), ((1.0, 1.0), (1.0, 1.0)), ((0.0, 0.0), (0.0, 0.0)))
UNTRAINED: dict[str, Callable[[], Drafter]] = {
    "jacobi": lambda: Jacobi(0, PADDING, by_source(1.0), beyond=SHORTEST),
    "gs-jacobi": lambda: Jacobi(3, PADDING),
    "hybrid-jacobi": lambda: Jacobi(5, PADDING, by_source(0.5)),
    "ngram-memory": memory,
    "lookup": lookup,
    "chain": lambda: Fallback([lookup(), memory(), Jacobi(3, PADDING)], 9),
}
"""Functions that make each kind of drafter."""


def run(
    verifier: Verifier, drafter: Drafter, sentences: Sequence[Sentence], batch_size: int = 1, pace: Pace = OWN_SIZE
) -> list[Hypothesis]:
    options = Decoding(acceptance=EXACT, batch_size=batch_size, max_length=LONGEST)
    found = decode_with(verifier, drafter, sentences, options, pace=pace)
    return sorted(found, key=lambda hypothesis: hypothesis.number)


def ids_of(found: Sequence[Hypothesis]) -> list[list[int]]:
    return [hypothesis.ids for hypothesis in found]


@cache
def pool() -> tuple[Verifier, list[Sentence], list[Hypothesis]]:
    """A verifier, sentences of one source width, and their greedy hypotheses."""
    verifier, sentences = Verifier(tiny_transformer()), make_sentences(8, 32)
    return verifier, sentences, run(verifier, NoDrafter(), sentences)


@pytest.mark.parametrize("batch_size", [1, 5])
@pytest.mark.parametrize("pace", [OWN_SIZE, AdaptivePace(FREE, 9)])
@pytest.mark.parametrize("name", UNTRAINED)
def test_output_equals_greedys(name: str, pace: Pace, batch_size: int) -> None:
    verifier, sentences, greedy = pool()
    drafter = UNTRAINED[name]()
    for _ in range(2):  # the second time with a filled memory
        found = run(verifier, drafter, sentences, batch_size, pace)
        assert ids_of(found) == ids_of(greedy)
        assert all(h.rounds <= len(h.ids) for h in found)


def test_lookup_drafts_the_continuation_in_the_source() -> None:
    # 30 has no other occurrence; after 8 the source has 9, 10, 11.
    assert drafts(lookup(2), [7, 8, 9, 10, 11], [30, 8, 9, 10, 11]) == [[], [], [9, 10], []]


def test_lookup_drafts_the_continuation_in_the_output() -> None:
    assert drafts(lookup(2), [7], [30, 31, 32, 30, 31, 32])[4:] == [[31, 32]]


def test_lookup_prefers_the_longest_suffix_then_the_last_occurrence() -> None:
    source = [20, 8, 21, 20, 30, 8, 22, 8, 23]
    assert drafts(lookup(1), source, [20, 8, 21])[1:3] == [[30], [21]]  # "20 8" has priority over the last "8"
    assert drafts(lookup(1), source, [31, 8, 23])[2] == [23]


def test_a_chain_uses_the_first_draft_that_is_not_empty() -> None:
    chain = Fallback([lookup(3), Jacobi(3, PADDING)], 3)
    assert drafts(chain, [7, 8, 9, 10], [30, 8, 9, 10])[:2] == [[PADDING] * 3, [8, 9, 10]]
    assert drafts(Fallback([lookup(3)], 3), [7, 8, 9], [30, 8, 9])[:2] == [[], []]


def test_a_chain_asks_later_drafters_only_where_a_row_has_no_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    target, calls = list(range(30, 40)), list[int]()
    never, second = FakeDrafter({0: target}, 3, right), FakeDrafter({0: target}, 3, right)
    propose = second.propose

    def count(state: State, memory: Any, size: int) -> Draft:
        calls.append(size)
        return propose(state, memory, size)

    monkeypatch.setattr(second, "propose", count)
    assert drafts(Fallback([never, second], 3), [7], target)[:2] == [target[:3], target[4:7]]
    assert not calls
    drafts(Fallback([lookup(3), second], 3), [7], target)
    assert calls


def test_a_chain_drafts_more_while_drafts_are_accepted() -> None:
    target = [7 + place % 30 for place in range(40)]
    fake = FakeDrafter({0: target}, 12, right)
    assert [len(draft) for draft in drafts(Fallback([fake], 10), [7], target)][:4] == [3, 7, 10, 10]
    fake = FakeDrafter({0: target}, 12, wrong)
    assert {len(draft) for draft in drafts(Fallback([fake], 10), [7], target)} == {3}
