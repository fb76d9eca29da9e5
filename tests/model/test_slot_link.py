"""The slot link: its drafts equal those of a loop over the slots, and a slot depends on the right tokens before it."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from specdec_cli.model.slot_link import SlotLink
from specdec_cli.model.transformer import Transformer
from tests.fakes import VOCABULARY, tiny_drafter, tiny_transformer

WITH_BIAS = tiny_transformer()
WITHOUT_BIAS = tiny_transformer(output_bias=False, tied_output=False)


def chain_of(verifier: Transformer, *, recurrent: bool = False) -> SlotLink:
    """A slot link with random weights."""
    chain = tiny_drafter(verifier, recurrent=recurrent).chain
    assert chain is not None
    with torch.no_grad():
        chain.output.weight.mul_(5.0)
    return chain


def walk(chain: SlotLink, states: Tensor, last: int, verifier: Transformer, candidates: int, shortlist: int) -> list[int]:
    """The draft for one block of states (k, W), slot by slot and by the forward pass of training; the reference of `choose`."""
    chosen: list[int] = []
    for slot in range(len(states)):
        previous = torch.tensor([last, *chosen, *[0] * len(states)])[: len(states)]
        independent, linked = (
            verifier.output(chain(states, previous, torch.arange(len(states)) < known, verifier))[slot] for known in (1, slot + 1)
        )
        allowed = independent[: shortlist or None].topk(candidates).indices
        chosen.append(int(allowed[linked[allowed].argmax()]))
    return chosen


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("verifier", [WITH_BIAS, WITHOUT_BIAS], ids=["bias", "no bias"])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 4), slots=st.integers(1, 6), candidates=st.integers(1, 8), short=st.booleans())
@torch.no_grad()
def test_the_walk_equals_one_slot_by_slot(
    verifier: Transformer, recurrent: bool, seed: int, rows: int, slots: int, candidates: int, short: bool
) -> None:
    shortlist = 20 if short else 0
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(rows, slots, verifier.config.width, generator=generator)
    last = torch.randint(0, VOCABULARY, (rows,), generator=generator)
    chain = chain_of(verifier, recurrent=recurrent)
    expected = [walk(chain, block, int(token), verifier, candidates, shortlist) for block, token in zip(states, last, strict=True)]
    assert chain.choose(states, last, verifier, candidates, shortlist).tolist() == expected


@torch.no_grad()
def test_the_previous_token_matters_only_where_it_is_known() -> None:
    states, chain = torch.randn(2, 3, 32), chain_of(WITH_BIAS)
    known = torch.tensor([[True, False, True], [False, False, True]])
    first, second = (chain(states, torch.full((2, 3), token), known, WITH_BIAS) for token in (7, 8))
    assert torch.equal((first != second).any(-1), known)


def test_with_one_candidate_only_the_first_slot_is_conditioned() -> None:
    states, chain, last = torch.randn(3, 4, 32), chain_of(WITH_BIAS), torch.tensor([7, 8, 9])
    linked = chain(states, last[:, None].expand(3, 4), torch.arange(4).expand(3, 4) < 1, WITH_BIAS)
    assert torch.equal(chain.choose(states, last, WITH_BIAS, 1), WITH_BIAS.output(linked).argmax(-1))


@pytest.mark.parametrize("recurrent", [False, True])
@torch.no_grad()
def test_only_a_recurrent_link_reads_earlier_tokens(recurrent: bool) -> None:
    states, chain, known = torch.randn(2, 3, 32), chain_of(WITH_BIAS, recurrent=recurrent), torch.ones(2, 3, dtype=torch.bool)
    first, second = (chain(states, torch.tensor([[token, 5, 6]] * 2), known, WITH_BIAS) for token in (7, 8))
    assert (first != second).any(-1).all(0).tolist() == [True, recurrent, recurrent]


@torch.no_grad()
def test_a_new_recurrent_link_is_one_that_reads_only_the_token_before() -> None:
    plain, recurrent = SlotLink(32, 8), SlotLink(32, 8, recurrent=True)
    missing = recurrent.load_state_dict(plain.state_dict(), strict=False).missing_keys
    states, previous, known = torch.randn(2, 4, 32), torch.randint(0, VOCABULARY, (2, 4)), torch.rand(2, 4) < 0.5
    assert missing == ["recurrent.weight"]
    assert torch.equal(recurrent(states, previous, known, WITH_BIAS), plain(states, previous, known, WITH_BIAS))
