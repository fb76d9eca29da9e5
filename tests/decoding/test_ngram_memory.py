"""The n-gram memory: drafts of continuations in text decoded before."""

import torch

from specdec_cli.decoding.drafters.suffix import NgramMemory
from specdec_cli.text.tokenize.sentencepiece import EOS
from tests.fake_drafters import drafts
from tests.fakes import VOCABULARY


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
