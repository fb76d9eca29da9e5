"""Simulated rounds equal those of the decoding loop."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.training import blocks
from specdec_cli.training.blocks import Simulation, block_states, encode_sentences, simulate
from specdec_cli.training.data import SentencePair
from tests.fakes import DRAFTERS, make_sentences, tiny_drafter, tiny_transformer

LONGEST = 30


def talkative(kind: str, seed: int = 1) -> BlockDrafter:
    """An untrained drafter that is often right, since its verifier repeats tokens; in double precision, which avoids near ties."""
    return tiny_drafter(tiny_transformer(seed).double(), **DRAFTERS[kind]).double()


def decoded(network: BlockDrafter, sentences: list[Sentence], block_size: int) -> dict[int, Hypothesis]:
    """Decode with the loop; greedily for a block size of 0."""
    drafter = Block(network, block_size) if block_size else NoDrafter()
    options = Decoding(batch_size=5, max_length=LONGEST)
    return {h.number: h for h in decode_with(Verifier(network.verifier), drafter, sentences, options)}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("block_size", [1, 3, 6])
@pytest.mark.parametrize("kind", DRAFTERS)
def test_rounds_equal_those_of_decoding(kind: str, block_size: int) -> None:
    network, sentences = talkative(kind), make_sentences(12) + [replace(s, number=s.number + 12) for s in make_sentences(6, seed=5)]
    greedy, drafted = decoded(network, sentences, 0), decoded(network, sentences, block_size)
    pairs = [SentencePair(s.source, greedy[s.number].ids) for s in sentences]
    assert [simulate(network, [pair], block_size).rounds for pair in pairs] == [drafted[s.number].rounds for s in sentences]
    together = simulate(network, pairs, block_size)
    assert together.rounds == sum(h.rounds for h in drafted.values())
    assert together.tokens == sum(len(h.ids) for h in greedy.values())
    assert together.rounds < together.tokens


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", DRAFTERS)
def test_prefixes_in_several_passes_have_equal_counts(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network, sentences = talkative(kind), make_sentences(6)
    pairs = [SentencePair(s.source, h.ids) for s, h in zip(sentences, decoded(network, sentences, 0).values(), strict=True)]
    at_once = simulate(network, pairs, 3)
    monkeypatch.setattr("specdec_cli.training.blocks._MAX_CUTS", 4)
    assert simulate(network, pairs, 3) == at_once


def test_rounds_follow_from_the_agreement_at_each_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    def agreement(network: BlockDrafter, source: Tensor, target: Tensor, block_size: int) -> Tensor:  # noqa: ARG001
        return torch.tensor([[0, 0, 3, 0, 0], [2, 0, 0, 1, 0]])

    monkeypatch.setattr("specdec_cli.training.blocks._agreement", agreement)
    pairs = [SentencePair([7, 3], [7, 8, 9]), SentencePair([7, 3], [7, 8, 9, 10, 3])]
    # The first goes from 0 to 1 to 2 to 6, which is beyond its end, the second from 0 to 3 to 5.
    assert simulate(tiny_drafter(tiny_transformer()), pairs, 3) == Simulation(3, 5, 8, (3 / 8, 2 / 8, 1 / 8))


@torch.no_grad()
def test_invisible_slots_have_no_effect() -> None:
    network = tiny_drafter(tiny_transformer())
    sentences = encode_sentences(network.verifier, torch.randint(5, 40, (2, 8)), torch.randint(5, 40, (2, 8)))
    cuts = torch.tensor([[0, 3], [2, 5]])
    shown = torch.full((2, 2, 6), -1)
    plain = block_states(network, sentences, cuts, 6, 4, shown)
    shown[..., 4:] = 9
    assert torch.allclose(block_states(network, sentences, cuts, 6, 4, shown)[:, :, :4], plain[:, :, :4], atol=1e-5)
    assert torch.allclose(block_states(network, sentences, cuts, 4, 4), plain[:, :, :4], atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("kind", DRAFTERS)
def test_a_block_attends_only_to_itself_and_its_prefix(kind: str) -> None:
    network = talkative(kind)
    source, target = torch.randint(5, 40, (1, 8)), torch.randint(5, 40, (1, 8))
    changed = target.clone()
    changed[:, 4:] = 9
    both, alone = torch.tensor([[2, 4]]), torch.tensor([[4]])
    first = block_states(network, encode_sentences(network.verifier, source, target), both, 5, 5)
    second = block_states(network, encode_sentences(network.verifier, source, changed), alone, 5, 5)
    assert torch.allclose(first[:, 1], second[:, 0])


@torch.no_grad()
@pytest.mark.parametrize("kind", DRAFTERS)
def test_states_of_blocks_equal_those_of_decoding(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network, (sentence,) = talkative(kind), make_sentences(1)
    seen: list[Tensor] = []
    choose = BlockDrafter.choose

    def watched(self: BlockDrafter, states: Tensor, last: Tensor) -> Tensor:
        seen.append(states)
        return choose(self, states, last)

    monkeypatch.setattr(BlockDrafter, "choose", watched)
    prefixes: list[int] = []
    options = Decoding(batch_size=1, max_length=LONGEST)
    look = lambda now: prefixes.append(int(now.state.lengths[0]) - 1)  # noqa: E731
    (found,) = decode_with(Verifier(network.verifier), Block(network, 4), [sentence], options, look)
    assert len(prefixes) == found.rounds > 3
    sentences = encode_sentences(network.verifier, torch.tensor([sentence.source]), torch.tensor([found.ids]))
    trained = block_states(network, sentences, torch.tensor([prefixes]), 4, 4)
    for slot, drafted in enumerate(seen):
        assert torch.allclose(trained[:, slot], drafted, atol=1e-9)


@pytest.mark.parametrize("together", [1, 100])
def test_many_cuts_are_simulated_in_parts(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network, sentences = talkative("papers"), make_sentences(4)
    pairs = [SentencePair(s.source, decoded(network, [s], 0)[s.number].ids) for s in sentences]
    whole = simulate(network, pairs, 3)
    monkeypatch.setattr(blocks, "_MAX_POSITIONS", together)
    assert simulate(network, pairs, 3) == whole
