"""Glancing: the number and positions of revealed tokens, and the loss mask."""

from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.training.blocks import EncodedSentences, block_states, encode_sentences
from specdec_cli.training.drafter import glance
from tests.fakes import tiny_drafter, tiny_transformer

SLOTS = 6
VERIFIER = tiny_transformer()


class Case(NamedTuple):
    """A drafter, what it drafts for, and the labels (B, M, K) of which some are real."""

    network: BlockDrafter
    sentences: EncodedSentences
    cuts: Tensor
    visible: int
    labels: Tensor
    loss_mask: Tensor


def make_case(seed: int, visible: int, layout: str = "shifted", dropout: float = 0.0) -> Case:
    """A case in which a third of the labels are the drafter's own drafts."""
    generator = torch.Generator().manual_seed(seed)
    source, target = torch.randint(5, 40, (2, 3, 8), generator=generator)
    tiny = tiny_drafter(VERIFIER, layout=layout, prefix="states" if layout == "shifted" else "own")
    network = BlockDrafter(tiny.config, VERIFIER, dropout)
    network.load_state_dict(tiny.state_dict())
    labels = torch.randint(5, 40, (3, 2, SLOTS), generator=generator)
    loss_mask = torch.arange(SLOTS) < torch.randint(0, visible + 1, (3, 2, 1), generator=generator)
    case = Case(network.eval(), encode_sentences(VERIFIER, source, target), torch.tensor([[0, 3]] * 3), visible, labels, loss_mask)
    labels[:] = torch.where(torch.rand(labels.shape, generator=generator) < 0.33, drafts(case), labels)
    network.train(dropout > 0)
    return case


@torch.no_grad()
def drafts(case: Case) -> Tensor:
    """The drafter's token for each slot."""
    drafted: Tensor = VERIFIER.output(block_states(case.network, case.sentences, case.cuts, SLOTS, case.visible)).argmax(-1)
    return drafted


anything = {"seed": st.integers(0, 10_000), "visible": st.integers(1, SLOTS), "ratio": st.floats(0.0, 1.0)}


@pytest.mark.parametrize("layout", ["shifted", "unshifted"])
@settings(deadline=None, max_examples=30)
@given(**anything)
def test_revealed_tokens_are_a_share_of_the_wrong_slots(layout: str, seed: int, visible: int, ratio: float) -> None:
    case = make_case(seed, visible, layout)
    wrong = ((drafts(case) != case.labels) & case.loss_mask).sum(2)
    glanced, counted = glance(*case, ratio)
    places = case.loss_mask & (torch.arange(SLOTS) < visible - (layout == "shifted"))
    assert torch.equal((glanced >= 0).sum(2), (wrong * ratio).long().minimum(places.sum(2)))
    assert torch.equal((case.loss_mask & ~counted).sum(2), (glanced >= 0).sum(2))
    assert not (counted & ~case.loss_mask).any()


@settings(deadline=None, max_examples=30)
@given(**anything)
def test_a_revealed_token_is_the_label_of_the_previous_slot_without_loss(seed: int, visible: int, ratio: float) -> None:
    case = make_case(seed, visible)
    glanced, counted = glance(*case, ratio)
    hidden = case.loss_mask & ~counted
    assert not (glanced[..., 0] >= 0).any()
    assert not (glanced[..., visible:] >= 0).any()
    assert not hidden[..., visible - 1 :].any()
    assert torch.equal(glanced[..., 1:], torch.where(hidden[..., :-1], case.labels[..., :-1], -1))


@settings(deadline=None, max_examples=30)
@given(**anything)
def test_the_unshifted_layout_reveals_a_slots_own_label(seed: int, visible: int, ratio: float) -> None:
    case = make_case(seed, visible, "unshifted")
    glanced, counted = glance(*case, ratio)
    assert torch.equal(glanced, torch.where(case.loss_mask & ~counted, case.labels, -1))


def test_nothing_is_revealed_at_ratio_0() -> None:
    case = make_case(3, SLOTS)
    glanced, counted = glance(*case, 0.0)
    assert not (glanced >= 0).any()
    assert torch.equal(counted, case.loss_mask)


@pytest.mark.parametrize("seed", range(5))
def test_both_passes_use_equal_dropout(seed: int) -> None:
    case = make_case(seed, SLOTS, dropout=0.5)
    torch.manual_seed(seed)
    glanced, _ = glance(*case, 1.0)
    wrong = ((drafts(case) != case.labels) & case.loss_mask).sum(2)
    places = (case.loss_mask & (torch.arange(SLOTS) < SLOTS - 1)).sum(2)
    assert torch.equal((glanced >= 0).sum(2), wrong.minimum(places))
