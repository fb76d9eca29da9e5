"""The drafter's network: what it takes over from its verifier, and what it leaves alone."""

import pytest
import torch

from specdec_cli.model.drafter import BlockDrafter
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
