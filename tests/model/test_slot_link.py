"""The slot link's walk over candidates, against a walk slot by slot."""

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


def chain_of(verifier: Transformer) -> SlotLink:
    """A slot link with random weights."""
    chain = tiny_drafter(verifier).chain
    assert chain is not None
    with torch.no_grad():
        chain.output.weight.mul_(5.0)
    return chain


def walk(chain: SlotLink, states: Tensor, last: int, verifier: Transformer, candidates: int, shortlist: int) -> list[int]:
    """The reference of `choose` for one block (k, W): slot by slot, with full logits."""
    chosen: list[int] = []
    for slot, state in enumerate(states):
        before = chain.project(torch.tensor(chosen[-1] if chosen else last), verifier)
        independent = verifier.output(chain.link(state, chain.unknown if chosen else before))
        allowed = independent[: shortlist or None].topk(candidates).indices
        linked = verifier.output(chain.link(state, before))
        chosen.append(int(allowed[linked[allowed].argmax()] if slot else allowed[0]))
    return chosen


@pytest.mark.parametrize("verifier", [WITH_BIAS, WITHOUT_BIAS], ids=["bias", "no bias"])
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 4), slots=st.integers(1, 6), candidates=st.integers(1, 8), short=st.booleans())
@torch.no_grad()
def test_the_walk_equals_one_slot_by_slot(verifier: Transformer, seed: int, rows: int, slots: int, candidates: int, short: bool) -> None:
    shortlist = 20 if short else 0
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(rows, slots, verifier.config.width, generator=generator)
    last = torch.randint(0, VOCABULARY, (rows,), generator=generator)
    chain = chain_of(verifier)
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
    linked = chain.link(states, torch.cat([chain.project(last, WITH_BIAS)[:, None], chain.unknown.expand(3, 3, -1)], dim=1))
    assert torch.equal(chain.choose(states, last, WITH_BIAS, 1), WITH_BIAS.output(linked).argmax(-1))
