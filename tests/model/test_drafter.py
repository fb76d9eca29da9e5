"""The drafter's network: its initialisation, its parameters, and the effect of its options."""

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from specdec_cli.errors import ModelError
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.training.blocks import block_states, encode_sentences
from tests.fakes import DRAFTERS, PAPERS, RELATIVE_SHAPE, tiny_drafter, tiny_transformer


@pytest.mark.parametrize("kind", DRAFTERS)
def test_a_drafters_parameters_exclude_the_verifiers(kind: str) -> None:
    verifier = tiny_transformer()
    drafter = tiny_drafter(verifier, **DRAFTERS[kind])
    assert drafter.verifier is verifier
    assert not {id(p) for p in drafter.parameters()} & {id(p) for p in verifier.parameters()}


def equal_layers(drafter: BlockDrafter) -> int:
    """The number of decoder layers that equal the verifier's."""
    states = zip(drafter.layers, drafter.verifier.layers, strict=False)
    return sum(all(torch.equal(a, b) for a, b in zip(x.parameters(), y.parameters(), strict=True)) for x, y in states)


def test_the_encoder_and_layers_of_equal_shape_are_copied() -> None:
    verifier = tiny_transformer()
    drafter = tiny_drafter(verifier, prefix="own", layers=3, feed_forward=64, encoder="own")
    assert equal_layers(drafter) == 0
    drafter.initialize_from_verifier()
    assert equal_layers(drafter) == 2
    source = torch.randint(5, 40, (2, 7))
    memory = verifier.encode(source)
    assert torch.equal(drafter.encoder(source)[0], memory.states)


@pytest.mark.parametrize("changes", [{"prefix": "own"}, {"encoder": "own", "embeddings": "own"}])
def test_layers_of_another_width_cannot_start_from_the_verifiers(changes: dict[str, Any]) -> None:
    drafter = tiny_drafter(tiny_transformer(), feed_forward=32, **changes)
    with pytest.raises(ModelError, match=r"drafter\.feed_forward is 32, but the verifier's layers, .* have 64; .*initial=random"):
        drafter.initialize_from_verifier()


def test_layers_have_the_width_of_the_verifiers_unless_one_is_given() -> None:
    drafter = tiny_drafter(tiny_transformer(feed_forward=96), prefix="own", layers=2, feed_forward=0)
    drafter.initialize_from_verifier()
    assert (drafter.config.feed_forward, equal_layers(drafter)) == (96, 2)


@pytest.mark.parametrize("changes", [{}, {"layers": 3}, {"layers": 3, "max_block": 9}])
def test_a_drafter_is_initialised_from_another(changes: dict[str, int]) -> None:
    verifier = tiny_transformer()
    first, drafter = tiny_drafter(verifier, layers=2), tiny_drafter(verifier, 1, **{"layers": 2} | changes)
    drafter.initialize_from_drafter(first)
    source, target = torch.tensor([[7, 9, 11, 13, 3], [8, 9, 10, 3, 0]]), torch.tensor([[9, 7, 20, 3], [30, 3, 0, 0]])
    sentences, cuts = encode_sentences(verifier, source, target), torch.tensor([[0, 2], [0, 1]])
    with torch.no_grad():
        theirs, ours = (block_states(network, sentences, cuts, 6, 6).flatten(0, 1) for network in (first, drafter))
    assert torch.allclose(theirs, ours, atol=1e-5)
    last = sentences.prefix.gather(1, cuts).flatten()
    assert torch.equal(first.choose(theirs, last), drafter.choose(ours, last))


def test_initialisation_from_another_width_is_refused() -> None:
    verifier = tiny_transformer()
    with pytest.raises(ModelError, match=r"from_state|outer"):
        tiny_drafter(verifier, feed_forward=48).initialize_from_drafter(tiny_drafter(verifier))


SOURCE = torch.tensor([[7, 9, 11, 13, 3]])
TARGET = torch.tensor([[9, 7, 20, 21, 22, 3]])
CUT = torch.tensor([[4]])


@torch.no_grad()
def states(network: BlockDrafter, target: Tensor = TARGET, source: Tensor = SOURCE, shown: Tensor | None = None) -> Tensor:
    """The states of a block of 4 tokens after 4 tokens."""
    return block_states(network, encode_sentences(network.verifier, source, target), CUT, 4, 4, shown)


def test_own_embeddings_are_initialised_from_the_verifier_and_trained() -> None:
    verifier = tiny_transformer()
    drafter = tiny_drafter(verifier, prefix="own", layers=2, feed_forward=64, encoder="own", embeddings="own")
    assert not torch.equal(drafter.embedding.tokens.weight, verifier.embedding.tokens.weight)
    drafter.initialize_from_verifier()
    own, theirs = drafter.state_dict(), verifier.state_dict()
    assert {name for name in own if name in theirs and torch.equal(own[name], theirs[name])} == set(theirs)
    assert drafter.vocabulary is drafter
    assert drafter.output.weight is drafter.embedding.tokens.weight
    assert not {id(p) for p in drafter.parameters()} & {id(p) for p in verifier.parameters()}


def test_a_drafter_can_be_wider_than_its_verifier() -> None:
    big = {"width": 48, "heads": 3, "encoder_layers": 2}
    verifier = tiny_transformer()
    drafter = tiny_drafter(verifier, **PAPERS | {"model": PAPERS["model"] | big, "feed_forward": 96})
    assert states(drafter).shape == (1, 1, 4, 48)
    assert (len(drafter.encoder.layers), drafter.heads) == (2, 3)
    for weight in verifier.parameters():
        weight.data.fill_(torch.nan)
    assert states(drafter).isfinite().all()


def other_attention(network: BlockDrafter, attention: Any) -> BlockDrafter:
    other = copy.deepcopy(network)
    other.config = replace(network.config, attention=attention)
    return other


def test_bidirectional_attention_sees_the_whole_prefix_and_block() -> None:
    """The kinds of attention differ in the states of early prefix tokens, which a block reads in its second layer."""
    verifier = tiny_transformer()
    one, two = (tiny_drafter(verifier, prefix="own", layers=layers) for layers in (1, 2))
    assert torch.allclose(states(one), states(other_attention(one, "bidirectional")), atol=1e-5)
    assert not torch.allclose(states(two), states(other_attention(two, "bidirectional")), atol=1e-2)


def test_position_embeddings_are_added_before_later_layers() -> None:
    network = tiny_drafter(tiny_transformer(), layers=2)
    seen: list[Tensor] = []
    for layer in network.layers:
        layer.register_forward_hook(lambda _, arguments, result: seen.extend([arguments[0], result]))
    states(network)
    assert torch.equal(seen[2], seen[1])
    network.config = replace(network.config, positions="layers")
    seen.clear()
    states(network)
    assert torch.allclose(seen[2] - seen[1], network.verifier.embedding.positions[4:8], atol=1e-5)


@pytest.mark.parametrize("copy_mode", ["add", "replace"])
@pytest.mark.parametrize("layout", ["shifted", "unshifted"])
def test_the_source_copy_replaces_the_mask_embedding(copy_mode: str, layout: str) -> None:
    shape: dict[str, Any] = {
        "prefix": "own",
        "source_copy": True,
        "copy_mode": copy_mode,
        "layout": layout,
        "embeddings": "own",
        "encoder": "own",
    }
    network = tiny_drafter(tiny_transformer(), **shape)
    shown = torch.tensor([[[-1, 23, 24, 25]]])
    before, before_shown, copied = states(network), states(network, shown=shown), states(network, source=SOURCE.flip(1)[:, 1:])
    assert not torch.allclose(before, copied, atol=1e-3)
    with torch.no_grad():
        network.embedding.tokens.weight[network.config.mask].normal_()
    assert torch.equal(states(network), before) == (copy_mode == "replace")
    # Revealed tokens are not masks: they keep their embedding, as does the last token.
    with torch.no_grad():
        network.embedding.tokens.weight[23:26].normal_()
    assert not torch.allclose(states(network, shown=shown), before_shown, atol=1e-3)
    with torch.no_grad():
        network.embedding.tokens.weight[21].normal_()
    assert not torch.equal(states(network), before)


@pytest.mark.parametrize("kind", ["own, unshifted, copy, encoder", "papers"])
def test_the_source_copy_uses_the_position_offset(kind: str) -> None:
    """An offset shifts the rows of the position tables and changes nothing else."""
    plain, moved = tiny_transformer(positions="learned"), tiny_transformer(positions="learned", position_offset=3)
    one, other = (tiny_drafter(verifier, **DRAFTERS[kind]) for verifier in (plain, moved))
    for mine, theirs in ((plain, moved), (one, other)):
        tables = mine.state_dict()
        for name, value in theirs.state_dict().items():
            if name.endswith("embedding.positions"):
                value[:3] = 100.0
                value[3:] = tables[name]
            else:
                value.copy_(tables[name])
    assert torch.allclose(states(one), states(other), atol=1e-5)


@pytest.mark.parametrize("changes", [{"prefix": "own"}, {"positions": "layers"}, {"source_copy": True}])
def test_over_relative_positions_a_drafter_needs_no_others(changes: dict[str, Any]) -> None:
    verifier = tiny_transformer(**RELATIVE_SHAPE)
    assert tiny_drafter(verifier).config.prefix == "states"
    with pytest.raises(ModelError, match='block drafters with prefix "states", positions "input" and no source_copy, or heads'):
        tiny_drafter(verifier, **changes)
