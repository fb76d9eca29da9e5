"""Every variant of the Transformer: decoding with a cache equals one pass, and masks hide what they should."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from specdec_cli.model.attention import RelativeBias, additive_mask
from specdec_cli.model.cache import Cache
from specdec_cli.model.layers import sinusoids
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import PADDING
from tests.fakes import RELATIVE, RELATIVE_SHAPE, VOCABULARY, tiny_transformer

VARIANTS = [
    dict(zip(("norm", "activation", "positions"), values, strict=True))
    for values in product(("pre", "post"), ("relu", "gelu", "silu"), ("sinusoidal", "learned"))
]
RELATIVE_VARIANTS = [RELATIVE_SHAPE | changes for changes in RELATIVE.values()] + [RELATIVE_SHAPE | {"norm": "post", "norm_kind": "layer"}]
SWITCHES = [
    dict(
        zip(
            ("tied_output", "output_bias", "embedding_norm", "shared_embeddings", "embedding_scale", "position_offset"), values, strict=True
        )
    )
    for values in product((True, False), (True, False), (True, False), (True,), (True,), (0,))
] + [{"shared_embeddings": False}, {"embedding_scale": True, "position_offset": 2}]


def ids(rows: int, length: int, seed: int = 0) -> Tensor:
    return torch.randint(5, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed))


def cached(model: Transformer, source: Tensor, target: Tensor, size: int) -> Tensor:
    """Logits of `target`, fed `size` tokens at a time into a cache that is larger than needed."""
    memory, config = model.encode(source), model.config
    cache = Cache.empty(config.decoder_layers, len(target), 20, config.heads, config.head_width, memory.states)
    states = []
    for start in range(0, target.shape[1], size):
        part = target[:, start : start + size]
        positions = torch.arange(start, start + part.shape[1]).expand(len(target), -1)
        mask = additive_mask(torch.arange(20) <= positions[..., None], memory.states.dtype)[:, None]
        states.append(model.decode(part, positions, mask, memory, cache.at(positions)))
    logits: Tensor = model.output(torch.cat(states, dim=1))
    return logits


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: " ".join(variant.values()))
@torch.no_grad()
def test_decoding_step_by_step_equals_one_pass(variant: dict[str, Any]) -> None:
    source, target = ids(3, 9), ids(3, 8, seed=1)
    source[1, 5:] = PADDING
    for switches in SWITCHES:
        model = tiny_transformer(**variant | switches).double()
        whole = model(source, target)
        for size in (1, 3):
            assert torch.allclose(cached(model, source, target, size), whole, atol=1e-8), switches


@pytest.mark.parametrize("variant", RELATIVE_VARIANTS)
@torch.no_grad()
def test_relative_positions_are_those_of_one_pass_step_by_step(variant: dict[str, Any]) -> None:
    source, target = ids(3, 19), ids(3, 17, seed=1)  # beyond the reach
    source[1, 5:] = PADDING
    model = tiny_transformer(**variant).double()
    whole = model(source, target)
    for size in (1, 3):
        assert torch.allclose(cached(model, source, target, size), whole, atol=1e-8)


@torch.no_grad()
def test_a_relative_bias_is_the_number_of_its_distance() -> None:
    bias = RelativeBias(2, 3, 4, ahead=True)
    bias.weight.copy_(torch.arange(6.0)[:, None] * 100 + torch.arange(9.0))
    found = bias(torch.tensor([[2], [30]]), torch.arange(10))
    assert found.shape == (2, 2, 3, 1, 10)
    assert found[0, 0, 0, 0].tolist() == [2, 3, 4, 5, 6, 7, 8, 8, 8, 8]
    assert found[1, 1, 2, 0].tolist() == [500.0] * 10
    behind = RelativeBias(1, 1, 4, ahead=False)
    behind.weight.copy_(torch.arange(5.0)[None])
    assert behind(torch.tensor([5]), torch.arange(6))[0, 0, 0, 0].tolist() == [0, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("changes", [{"positions": "relative"}, {"norm_kind": "rms"}, {"biases": False}, {"attention_scale": False}])
@torch.no_grad()
def test_every_field_computes_another_function(changes: dict[str, Any]) -> None:
    plain = tiny_transformer()
    other = Transformer(replace(plain.config, **changes)).eval()
    own = other.state_dict()
    other.load_state_dict(own | {name: value for name, value in plain.state_dict().items() if name in own})
    source, target = ids(2, 6), ids(2, 5, seed=1)
    assert not torch.allclose(plain(source, target), other(source, target), atol=1e-2)


@pytest.mark.parametrize("name", ["norm", "activation", "positions", "embedding_norm", "embedding_scale", "position_offset"])
@torch.no_grad()
def test_every_variant_computes_another_function(name: str) -> None:
    other: Any = {"norm": "post", "activation": "silu", "positions": "sinusoidal", "position_offset": 3}.get(name, True)
    source, target = ids(2, 6), ids(2, 5, seed=1)
    assert not torch.allclose(tiny_transformer()(source, target), tiny_transformer(**{name: other})(source, target), atol=1e-2)


@torch.no_grad()
def test_no_position_attends_to_later_ones() -> None:
    model, source, target = tiny_transformer(), ids(2, 9), ids(2, 8, seed=1)
    changed = target.clone()
    changed[:, 5:] = 7
    before, after = model(source, target), model(source, changed)
    assert torch.allclose(before[:, :5], after[:, :5], atol=1e-5)
    assert not torch.allclose(before[:, 5:], after[:, 5:], atol=1e-2)


@torch.no_grad()
def test_padding_of_the_source_is_not_attended_to() -> None:
    model, source, target = tiny_transformer(), ids(2, 9), ids(2, 8, seed=1)
    padded = torch.cat([source, source.new_full((2, 7), PADDING)], dim=1)
    assert torch.allclose(model(source, target), model(padded, target), atol=1e-4)


@torch.no_grad()
def test_a_row_of_padding_has_finite_states() -> None:
    model = tiny_transformer()
    assert bool(model(torch.full((2, 4), PADDING), ids(2, 3)).isfinite().all())


@torch.no_grad()
def test_the_offset_shifts_positions_in_the_table() -> None:
    plain, moved = tiny_transformer().embedding, tiny_transformer(position_offset=3).embedding
    moved.load_state_dict(plain.state_dict() | {"positions": torch.cat([torch.zeros(3, 32), plain.state_dict()["positions"]])})
    tokens, positions = ids(2, 5), torch.arange(5)
    assert torch.equal(moved(tokens, positions), plain(tokens, positions))
    assert torch.equal(moved(tokens, positions + 7), plain(tokens, positions + 7))


def test_tied_weights_are_one_parameter() -> None:
    model = tiny_transformer()
    assert model.output.weight is model.embedding.tokens.weight is model.encoder.embedding.tokens.weight
    apart = tiny_transformer(tied_output=False, shared_embeddings=False)
    assert len({id(m) for m in (apart.output.weight, apart.embedding.tokens.weight, apart.encoder.embedding.tokens.weight)}) == 3


def test_sinusoids_equal_those_of_tensor2tensor() -> None:
    table = sinusoids(50, 32)
    assert table[0].tolist() == [0.0] * 16 + [1.0] * 16
    assert torch.allclose(table[:, 0], torch.arange(50).float().sin(), atol=1e-6)
    assert torch.allclose(table[:, 31], (torch.arange(50) / 10000.0).cos(), atol=1e-6)


def test_attention_is_equal_in_training_and_evaluation() -> None:
    source, target = ids(2, 6), ids(2, 5, seed=1)
    model = tiny_transformer()
    with_gradient = model(source, target)
    with torch.no_grad():
        assert torch.allclose(with_gradient, model(source, target), atol=1e-4)


def test_a_cache_changes_only_at_written_positions() -> None:
    cache = Cache.empty(1, 3, 8, 2, 4, torch.zeros(1))
    assert cache.capacity == 8
    written = torch.randn(3, 2, 2, 2, 4)
    positions = torch.tensor([[0, 1], [4, 5], [6, 7]])
    (writer,) = cache.at(positions)
    store = writer.write(written)
    for row in range(3):
        assert torch.equal(store[row, positions[row]], written[row])
    assert int(store.abs().sum((2, 3, 4)).count_nonzero()) == 6
