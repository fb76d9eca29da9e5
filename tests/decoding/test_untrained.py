"""What lookup, the n-gram memory and chains of drafters draft."""

from typing import Any

import pytest
import torch

from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.suffix import Lookup, NgramMemory
from specdec_cli.decoding.state import Draft, State
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.fake_drafters import FakeDrafter, drafts, right, wrong
from tests.fakes import VOCABULARY


def lookup(block_size: int = 5) -> Lookup:
    return Lookup(block_size, EOS, PADDING)


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


def memory(block_size: int) -> NgramMemory:
    return NgramMemory(block_size, VOCABULARY, torch.device("cpu"))


def test_earlier_continuations_are_drafted_again() -> None:
    drafter, target = memory(3), [10, 11, 12, 13, 14]
    assert drafts(drafter, [7], target) == [[]] * 6
    assert drafts(drafter, [8], target) == [[10, 11, 12], [14, EOS]]


def test_pairs_have_priority_over_single_tokens() -> None:
    drafter = memory(2)
    drafts(drafter, [7], [10, 20, 30])
    drafts(drafter, [7], [11, 20, 31])
    assert drafts(drafter, [7], [10, 20, 30])[1] == [20, 30]
    assert drafts(drafter, [7], [11, 20, 31])[1] == [20, 31]


def test_an_unknown_pair_falls_back_to_the_last_token() -> None:
    drafter = memory(2)
    drafts(drafter, [7], [10, 20, 30])
    drafts(drafter, [7], [11, 20, 31])
    assert drafts(drafter, [7], [12, 20, 33])[1:3] == [[], [31, EOS]]
