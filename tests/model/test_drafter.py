"""The drafter's network: what it takes over from its verifier, and what it leaves alone."""

import pytest
import torch

from specdec_cli.errors import ModelError
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.training.blocks import block_states, read_sentences
from tests.fakes import DRAFTERS, tiny_drafter, tiny_transformer


@pytest.mark.parametrize("kind", DRAFTERS)
def test_the_verifiers_weights_are_not_the_drafters(kind: str) -> None:
    verifier = tiny_transformer()
    drafter = tiny_drafter(verifier, **DRAFTERS[kind])
    assert drafter.verifier is verifier
    assert not {id(p) for p in drafter.parameters()} & {id(p) for p in verifier.parameters()}


def equal_layers(drafter: BlockDrafter) -> int:
    """How many decoder layers are the verifier's."""
    states = zip(drafter.layers, drafter.verifier.layers, strict=False)
    return sum(all(torch.equal(a, b) for a, b in zip(x.parameters(), y.parameters(), strict=True)) for x, y in states)


def test_layers_of_the_same_shape_and_the_encoder_are_taken_over() -> None:
    verifier = tiny_transformer()
    drafter = tiny_drafter(verifier, prefix="own", layers=3, feed_forward=64, encoder="own")
    assert equal_layers(drafter) == 0
    drafter.initialize_from_verifier()
    assert equal_layers(drafter) == 2
    source = torch.randint(5, 40, (2, 7))
    memory = verifier.encode(source)
    assert torch.equal(drafter.encoder(source)[0], memory.states)


def test_layers_of_another_shape_stay() -> None:
    drafter = tiny_drafter(tiny_transformer(), prefix="own", feed_forward=32)
    before = {name: value.clone() for name, value in drafter.state_dict().items()}
    drafter.initialize_from_verifier()
    assert all(torch.equal(before[name], value) for name, value in drafter.state_dict().items())


@pytest.mark.parametrize("changes", [{}, {"layers": 3}, {"layers": 3, "max_block": 9}])
def test_a_drafter_begins_as_another_one(changes: dict[str, int]) -> None:
    verifier = tiny_transformer()
    first, drafter = tiny_drafter(verifier, layers=2), tiny_drafter(verifier, 1, **{"layers": 2} | changes)
    drafter.initialize_from_drafter(first)
    source, target = torch.tensor([[7, 9, 11, 13, 3], [8, 9, 10, 3, 0]]), torch.tensor([[9, 7, 20, 3], [30, 3, 0, 0]])
    sentences, cuts = read_sentences(verifier, source, target), torch.tensor([[0, 2], [0, 1]])
    with torch.no_grad():
        theirs, ours = (block_states(network, sentences, cuts, 6, 6).flatten(0, 1) for network in (first, drafter))
    assert torch.allclose(theirs, ours, atol=1e-5)
    last = sentences.prefix.gather(1, cuts).flatten()
    assert torch.equal(first.choose(theirs, last), drafter.choose(ours, last))


def test_a_drafter_of_another_width_is_no_beginning() -> None:
    verifier = tiny_transformer()
    with pytest.raises(ModelError, match=r"from_state|outer"):
        tiny_drafter(verifier, feed_forward=48).initialize_from_drafter(tiny_drafter(verifier))
