"""The kernel of attention computes what PyTorch's operators do, and the same bits for a query in any company."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.kernels.attention import Relative, attend
from specdec_cli.model.attention import RelativeBias

CAPACITY = 70


def reference(queries: Tensor, keys_values: Tensor, ends: Tensor) -> Tensor:
    """Attention (B, Q, W) by PyTorch's operators."""
    rows, count, _ = queries.shape
    keys, values = keys_values.float().transpose(1, 3).unbind(2)
    seen = torch.arange(keys_values.shape[1]) < ends.expand(rows, count)[..., None]
    split = queries.float().view(rows, count, *keys_values.shape[3:]).transpose(1, 2)
    return F.scaled_dot_product_attention(split, keys, values, attn_mask=seen[:, None]).transpose(1, 2).flatten(2)


def inputs(head_width: int, count: int, dtype: torch.dtype = torch.float32, heads: int = 2) -> tuple[Tensor, Tensor]:
    keys_values = torch.randn(4, CAPACITY, 2, heads, head_width, dtype=dtype)
    return 2 * torch.randn(4, count, heads * head_width, dtype=dtype), keys_values


@pytest.mark.parametrize("head_width", [16, 32, 64, 80, 128])
@pytest.mark.parametrize(("count", "dtype"), [(1, torch.float32), (19, torch.float16), (5, torch.bfloat16)])
def test_attention_is_that_of_the_operators(head_width: int, count: int, dtype: torch.dtype) -> None:
    queries, keys_values = inputs(head_width, count, dtype)
    prefixes = torch.tensor([1, 30, 32, 50])[:, None]
    causal, crossing, both_ways = prefixes + torch.arange(count), prefixes, prefixes + count - 1
    for ends in (causal, crossing, both_ways):
        tolerance = {torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 6e-2}[dtype]
        result = attend(queries, keys_values, ends)
        assert result.dtype is dtype
        torch.testing.assert_close(result.float(), reference(queries, keys_values, ends), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("ahead", "reach"), [(False, 7), (True, 7), (True, 60)])
@pytest.mark.parametrize("scale", [None, 1.0])
def test_relative_positions_are_those_of_the_operators(ahead: bool, reach: int, scale: float | None) -> None:
    queries, keys_values = inputs(32, 19)
    table = RelativeBias(1, 2, reach, ahead=ahead)
    table.weight.normal_()
    positions = torch.tensor([0, 29, 31, 50])[:, None] + torch.arange(19)
    ends = torch.tensor([40, 50, 60, 70])[:, None] if ahead else positions + 1
    seen = torch.arange(CAPACITY) < ends.expand(4, 19)[..., None]
    mask = table(positions, torch.arange(CAPACITY))[0].masked_fill(~seen[:, None], -torch.inf)
    keys, values = keys_values.transpose(1, 3).unbind(2)
    split = queries.view(4, 19, 2, 32).transpose(1, 2)
    expected = F.scaled_dot_product_attention(split, keys, values, attn_mask=mask, scale=scale).transpose(1, 2).flatten(2)
    found = attend(queries, keys_values, ends, scale=scale, relative=Relative(table.weight, reach, positions))
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)
    alone = Relative(table.weight, reach, positions[2:3, 4:5].contiguous())
    one = attend(queries[2:3, 4:5].contiguous(), keys_values[2:3], ends.expand(4, 19)[2:3, 4:5], scale=scale, relative=alone)
    assert torch.equal(one[0, 0], found[2, 4])


@pytest.mark.parametrize("head_width", [16, 80, 128])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_query_has_the_same_bits_in_any_company_and_capacity(head_width: int, dtype: torch.dtype) -> None:
    queries, keys_values = inputs(head_width, 19, dtype)
    ends = torch.tensor([1, 30, 33, 51])[:, None] + torch.arange(19)
    everything = attend(queries, keys_values, ends)
    for row in (0, 3):
        keys, own = keys_values[row : row + 1], ends[row : row + 1]
        assert torch.equal(attend(queries[row : row + 1], keys, own)[0], everything[row])
        for query in (0, 18):
            end = own[:, query : query + 1]
            for capacity in range(int(end), CAPACITY + 1) if query == 18 else (int(end), CAPACITY):
                alone = attend(queries[row, query][None, None], keys[:, :capacity].contiguous(), end)
                assert torch.equal(alone[0, 0], everything[row, query])


def test_keys_that_no_query_sees_are_not_read() -> None:
    queries, keys_values = inputs(16, 3)
    ends = torch.tensor([3, 32, 40, 64])[:, None]
    expected = attend(queries, keys_values, ends)
    for row, end in enumerate(ends[:, 0].tolist()):
        keys_values[row, end:] = torch.nan
    assert torch.equal(attend(queries, keys_values, ends), expected)


def test_a_row_without_keys_has_finite_results() -> None:
    queries, keys_values = inputs(16, 2)
    assert torch.isfinite(attend(queries, keys_values, torch.zeros(4, 1, dtype=torch.int64))).all()


def test_keys_may_be_a_layer_of_a_cache() -> None:
    queries, _ = inputs(32, 2)
    layers = torch.randn(4, CAPACITY, 3, 2, 2, 32)
    ends = torch.tensor([3, 32, 40, 64])[:, None]
    assert torch.equal(attend(queries, layers[:, :, 1], ends), attend(queries, layers[:, :, 1].contiguous(), ends))


@pytest.mark.parametrize(("step", "biased"), [(1, False), (1, True), (2, False)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_hypothesis_has_the_bits_of_a_row_with_its_keys(step: int, biased: bool, dtype: torch.dtype) -> None:
    rows, hypotheses, positions = 3, 5, CAPACITY // 5
    queries = 2 * torch.randn(rows, hypotheses * step, 32, dtype=dtype)
    keys_values = torch.randn(rows, CAPACITY, 2, 2, 16, dtype=dtype)
    orders = torch.randint(hypotheses, (rows, hypotheses, positions))
    ends = torch.tensor([2, 9, 14])[:, None].expand(-1, hypotheses * step)
    biases, at = torch.randn(2, 6), (ends - step + torch.arange(step).repeat(hypotheses)).contiguous()
    relative = Relative(biases, 5, at) if biased else None
    found = attend(queries, keys_values, ends, orders, relative=relative).view(rows, hypotheses, step, 32)
    for row in range(rows):
        for hypothesis in range(hypotheses):
            own = keys_values[row, torch.arange(positions) * hypotheses + orders[row, hypothesis]][None]
            query = queries.view(rows, hypotheses, step, 32)[row, hypothesis][None]
            relative = Relative(biases, 5, at[row : row + 1, :step].contiguous()) if biased else None
            expected = attend(query.contiguous(), own, ends[row : row + 1, :step], relative=relative)
            assert torch.equal(found[row, hypothesis], expected[0])
