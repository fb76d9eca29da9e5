"""The kernels of linear layers, norms and embeddings compute what PyTorch's operators do, and the same bits for a row in any company."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.kernels import linear as linear_module
from specdec_cli.kernels import tiles
from specdec_cli.kernels.embedding import embed
from specdec_cli.kernels.linear import gate, linear
from specdec_cli.kernels.norm import norm
from specdec_cli.model.cache import Cache
from specdec_cli.model.config import Activation, TransformerConfig
from specdec_cli.model.layers import ACTIVATIONS, Embedding

SHAPES = [(16, 16), (48, 80), (80, 240), (192, 64), (64, 130)]
"""Widths of inputs and outputs; most are no multiple of a tile."""
TOLERANCE = {torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}


def layer_norm(width: int, dtype: torch.dtype = torch.float32) -> nn.LayerNorm:
    layer = nn.LayerNorm(width)
    layer.weight.add_(0.3 * torch.randn(width))
    layer.bias.add_(0.3 * torch.randn(width))
    return layer.to(dtype)


def rms_norm(width: int, dtype: torch.dtype = torch.float32) -> nn.RMSNorm:
    layer = nn.RMSNorm(width, eps=1e-6)
    layer.weight.add_(0.3 * torch.randn(width))
    return layer.to(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("activation", "parts"),
    [
        (None, "norm"),
        ("relu", "norm"),
        ("gelu", "residual"),
        ("silu", "norm, residual, no bias"),
        ("gelu-tanh", "rms norm, residual, no bias"),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_layer_is_that_of_the_operators(shape: tuple[int, int], activation: Activation | None, parts: str, dtype: torch.dtype) -> None:
    width, columns = shape
    layer = nn.Linear(width, columns, bias="no bias" not in parts).to(dtype)
    before = (rms_norm if "rms" in parts else layer_norm)(width, dtype) if "norm" in parts else None
    x = torch.randn(2, 9, width, dtype=dtype)
    residual = torch.randn(2, 9, columns, dtype=dtype) if "residual" in parts else None
    result = linear(x, layer, norm=before, activation=activation, residual=residual)
    expected = x.float() if before is None else before.float()(x.float())
    expected = layer.float()(expected)
    expected = expected if activation is None else ACTIVATIONS[activation](expected)
    expected = expected if residual is None else expected + residual.float()
    assert result.dtype is dtype and result.shape == expected.shape
    torch.testing.assert_close(result.float(), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_row_has_the_same_bits_in_any_company(shape: tuple[int, int], dtype: torch.dtype) -> None:
    width, columns = shape
    layer, before = nn.Linear(width, columns).to(dtype), layer_norm(width, dtype)
    x, residual = torch.randn(4, 5, width, dtype=dtype), torch.randn(4, 5, columns, dtype=dtype)

    def run(rows: slice, queries: slice) -> Tensor:
        added = residual[rows, queries].contiguous()
        return linear(x[rows, queries].contiguous(), layer, norm=before, activation="gelu", residual=added)

    everything = run(slice(None), slice(None))
    for row in (0, 3):
        assert torch.equal(run(slice(row, row + 1), slice(None))[0], everything[row])
        for query in (0, 4):
            assert torch.equal(run(slice(row, row + 1), slice(query, query + 1))[0, 0], everything[row, query])


@pytest.mark.parametrize("normalised", [False, True])
def test_a_row_has_the_same_bits_in_larger_tiles(normalised: bool) -> None:
    layer, before = nn.Linear(80, 70).half(), layer_norm(80, torch.float16) if normalised else None
    x = torch.randn(tiles.MANY + 9, 1, 80).half()
    many = linear(x, layer, norm=before)
    for row in (0, 15, 16, 63, 64, tiles.MANY + 8):
        assert torch.equal(linear(x[row : row + 1], layer, norm=before)[0], many[row])


def test_larger_tiles_are_for_half_precision_and_cards_with_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    half, single = torch.empty(0, dtype=torch.float16), torch.empty(0)
    product_tile = linear_module.product_tile
    assert product_tile(tiles.MANY + 1, half, normalised=True) == tiles.MANY_NORMALISED
    assert product_tile(tiles.MANY + 1, half, normalised=False) == tiles.MANY_ROWS
    assert product_tile(tiles.MANY, half, normalised=True) == product_tile(tiles.MANY + 1, single, normalised=True) == tiles.FEW_ROWS
    monkeypatch.setattr(tiles, "_has_wide_memory", lambda _: False)
    assert product_tile(tiles.MANY + 1, half, normalised=True) == tiles.FEW_ROWS


def test_larger_tiles_are_used_where_they_give_the_bits_of_the_smallest_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    agree, narrow, cpu = linear_module.large_tiles_agree.__wrapped__, tiles.input_tile, torch.device("cpu")
    before = torch.get_rng_state()
    assert agree(cpu, torch.float16, 80, 64)
    assert torch.equal(torch.get_rng_state(), before)
    widths = iter([64, 16])  # another order of sums in the larger tile
    monkeypatch.setattr(linear_module, "input_tile", lambda width, like: next(widths, narrow(width, like)))
    assert not agree(cpu, torch.float32, 80, 64)

    def fail(*_: object) -> int:
        raise RuntimeError("out of resource: shared memory")

    monkeypatch.setattr(linear_module, "input_tile", fail)
    assert not agree(cpu, torch.float16, 80, 64)


@pytest.mark.parametrize("kept", [48, 0])
def test_keys_and_values_go_to_their_positions_in_the_cache(kept: int) -> None:
    rows, capacity, heads, head_width = 3, 11, 3, 16
    layer = nn.Linear(32, kept + 2 * heads * head_width)
    x = torch.randn(rows, 4, 32)
    positions = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7], [7, 8, 9, 10]])
    cache = Cache(torch.full((rows, capacity, 2, 2, heads, head_width), torch.nan))
    result = linear(x, layer, store=cache.whole[:, :, 1], positions=positions, kept=kept)
    expected = layer(x)
    torch.testing.assert_close(result, expected[..., :kept], rtol=2e-5, atol=2e-5)
    written = cache.whole[:, :, 1].flatten(2)
    at = positions[..., None].expand(-1, -1, written.shape[2])
    torch.testing.assert_close(written.gather(1, at), expected[..., kept:], rtol=2e-5, atol=2e-5)
    assert int(cache.whole.isnan().logical_not().sum()) == expected[..., kept:].numel()


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu-tanh", "silu"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_gate_is_that_of_the_operators(activation: Activation, dtype: torch.dtype) -> None:
    units = 3 * torch.randn(3, 2, 2 * 272, dtype=dtype)
    units[0, 0, :4] = torch.tensor([-60.0, -20.0, 20.0, 60.0])
    result = gate(units, activation)
    activated, factors = units.float().chunk(2, -1)
    assert result.dtype is dtype
    torch.testing.assert_close(result.float(), ACTIVATIONS[activation](activated) * factors, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("make", [layer_norm, rms_norm])
@pytest.mark.parametrize("width", [16, 48, 80, 512])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_norm_is_that_of_the_operators(make: Any, width: int, dtype: torch.dtype) -> None:
    layer, x = make(width, dtype), 3 * torch.randn(2, 5, width, dtype=dtype) + 1
    result = norm(x, layer)
    assert result.dtype is dtype
    torch.testing.assert_close(result.float(), layer.float()(x.float()), rtol=1e-2, atol=1e-5 if dtype is torch.float32 else 1e-2)
    assert torch.equal(norm(x[1:, 2:3].contiguous(), layer.to(dtype))[0, 0], result[1, 2])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"positions": "learned", "position_offset": 2, "embedding_norm": True},
        {"embedding_scale": False, "embedding_norm": True},
        {"positions": "learned"},
        {"positions": "relative", "embedding_norm": True, "norm_kind": "rms"},
    ],
)
def test_embeddings_are_those_of_the_operators(changes: dict[str, Any]) -> None:
    config = TransformerConfig(60, width=48, heads=2, max_positions=32, **changes)
    embedding = Embedding(config, nn.Embedding(60, 48), 0.0).eval()
    if not isinstance(embedding.norm, nn.Identity):
        embedding.norm = (rms_norm if config.norm_kind == "rms" else layer_norm)(48)
    ids, positions = torch.randint(60, (3, 5)), torch.randint(32, (3, 5))
    result = embed(ids, positions, embedding)
    torch.testing.assert_close(result, embedding(ids, positions), rtol=2e-5, atol=2e-5)
    assert torch.equal(embed(ids[1:2, 3:4], positions[1:2, 3:4], embedding)[0, 0], result[1, 3])
