"""The kernel of the slot link chooses the tokens that `SlotLink.choose` chooses."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import nn

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.kernels.link import choose, link_tables
from specdec_cli.kernels.support import WIDEST_LINK, why_not
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.layers import Embedding, Vocabulary
from specdec_cli.model.slot_link import SlotLink
from tests.fakes import tiny_drafter, tiny_transformer

WORDS = 90


def make(width: int, rank: int, *, recurrent: bool, tied: bool) -> tuple[SlotLink, Vocabulary]:
    """A link with large random weights, and a vocabulary."""
    embedding = Embedding(TransformerConfig(WORDS, width=width, heads=2), nn.Embedding(WORDS, width), 0.0)
    output = nn.Linear(width, WORDS, bias=not tied)
    if tied:
        output.weight = embedding.tokens.weight
    link = SlotLink(width, rank, recurrent=recurrent)
    link.unknown.normal_()
    if link.recurrent is not None:
        link.recurrent.weight.normal_(std=rank**-0.5)
    link.output.weight.mul_(3.0)
    return link, cast(Vocabulary, SimpleNamespace(embedding=embedding, output=output))


CASES: list[dict[str, Any]] = [
    {"width": 32, "rank": 16, "recurrent": True, "tied": True},
    {"width": 48, "rank": 24, "recurrent": True, "tied": False},
    {"width": 80, "rank": 40, "recurrent": False, "tied": True},
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("slots", "shortlist"), [(1, 0), (5, 50)])
def test_the_walk_chooses_the_tokens_of_the_operators(case: dict[str, Any], slots: int, shortlist: int) -> None:
    link, vocabulary = make(**case)
    states, last = torch.randn(3, slots, case["width"]), torch.randint(0, WORDS, (3,))
    table = link_tables(link, vocabulary)
    result = choose(states, last, link, vocabulary, table, 8, shortlist)
    assert torch.equal(result, link.choose(states, last, vocabulary, 8, shortlist))
    assert shortlist == 0 or int(result.max()) < shortlist
    for row in (0, 2):
        assert torch.equal(choose(states[row : row + 1], last[row : row + 1], link, vocabulary, table, 8, shortlist)[0], result[row])


def test_a_slot_depends_on_the_tokens_before_it() -> None:
    link, vocabulary = make(32, 16, recurrent=True, tied=True)
    states = torch.randn(1, 4, 32).repeat(6, 1, 1)
    drafts = choose(states, torch.arange(6), link, vocabulary, link_tables(link, vocabulary), 8)
    assert len({tuple(row) for row in drafts[:, 1:].tolist()}) > 1


def test_links_and_candidates_beyond_the_largest_tiles_are_left_to_operators() -> None:
    model = tiny_transformer(vocabulary_size=2**17)
    assert why_not(tiny_drafter(model, candidates=32)) is None
    assert why_not(tiny_drafter(model, candidates=33)) == "kernels cannot merge 33 candidates of each tile of the vocabulary"
    assert why_not(tiny_drafter(model, candidates=33, shortlist=2**16)) is None
    refused = why_not(tiny_drafter(tiny_transformer(), chain=WIDEST_LINK + 1))
    assert refused == "the slot link has 4097 units, and kernels have at most 4096"
