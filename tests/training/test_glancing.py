"""Glancing: how much is shown, where, and what loses its loss for it."""

from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.transformer import Transformer
from specdec_cli.training.blocks import Sentences, block_states, read_sentences
from specdec_cli.training.glancing import glance
from tests.fakes import tiny_drafter, tiny_transformer

SLOTS = 6
VERIFIER = tiny_transformer()


class Case(NamedTuple):
    """A drafter, what it drafts for, and the goals (B, M, K) of which some are real."""

    network: BlockDrafter
    sentences: Sentences
    cuts: Tensor
    visible: int
    goals: Tensor
    meant: Tensor


def make_case(seed: int, visible: int, verifier: Transformer = VERIFIER, dropout: float = 0.0) -> Case:
    generator = torch.Generator().manual_seed(seed)
    source, target = torch.randint(5, 40, (2, 3, 8), generator=generator)
    network = tiny_drafter(verifier)
    if dropout:
        trained = BlockDrafter(network.config, verifier, dropout)
        trained.load_state_dict(network.state_dict())
        network = trained.train()
    sentences, cuts = read_sentences(verifier, source, target), torch.tensor([[0, 3]] * 3)
    drafted = drafts(network.eval(), sentences, cuts, visible)
    noise = torch.randint(5, 40, drafted.shape, generator=generator)
    goals = torch.where(torch.rand(drafted.shape, generator=generator) < 0.4, drafted, noise)
    meant = torch.arange(SLOTS) < torch.randint(0, visible + 1, (3, 2, 1), generator=generator)
    return Case(network.train(dropout > 0), sentences, cuts, visible, goals, meant)


@torch.no_grad()
def drafts(network: BlockDrafter, sentences: Sentences, cuts: Tensor, visible: int) -> Tensor:
    drafted: Tensor = network.verifier.output(block_states(network, sentences, cuts, SLOTS, visible)).argmax(-1)
    return drafted


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), visible=st.integers(1, SLOTS), ratio=st.floats(0.0, 1.0))
def test_the_more_is_wrong_the_more_is_shown(seed: int, visible: int, ratio: float) -> None:
    case = make_case(seed, visible)
    wrong = ((drafts(case.network, case.sentences, case.cuts, visible) != case.goals) & case.meant).sum(2)
    shown, counted = glance(*case, ratio)
    places = (case.meant & (torch.arange(SLOTS) < visible - 1)).sum(2)
    assert torch.equal((shown >= 0).sum(2), (wrong * ratio).long().minimum(places))
    assert torch.equal((case.meant & ~counted).sum(2), (shown >= 0).sum(2))


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), visible=st.integers(1, SLOTS), ratio=st.floats(0.0, 1.0))
def test_a_shown_token_is_the_goal_of_the_slot_before_which_loses_its_loss(seed: int, visible: int, ratio: float) -> None:
    case = make_case(seed, visible)
    shown, counted = glance(*case, ratio)
    hidden = case.meant & ~counted
    assert not (shown[..., 0] >= 0).any()
    assert not (shown[..., visible:] >= 0).any()
    assert not hidden[..., visible - 1 :].any()
    assert not (counted & ~case.meant).any()
    assert torch.equal(shown[..., 1:], torch.where(hidden[..., :-1], case.goals[..., :-1], -1))


def test_nothing_is_shown_at_ratio_0() -> None:
    case = make_case(3, SLOTS)
    shown, counted = glance(*case, 0.0)
    assert not (shown >= 0).any()
    assert torch.equal(counted, case.meant)


@pytest.mark.parametrize("seed", range(5))
def test_both_passes_have_the_same_dropout(seed: int) -> None:
    case = make_case(seed, SLOTS, dropout=0.5)
    torch.manual_seed(seed)
    shown, _ = glance(*case, 1.0)
    wrong = ((drafts(case.network, case.sentences, case.cuts, SLOTS) != case.goals) & case.meant).sum(2)
    places = (case.meant & (torch.arange(SLOTS) < SLOTS - 1)).sum(2)
    assert torch.equal((shown >= 0).sum(2), wrong.minimum(places))
