"""The kernels of every instruction set against the arithmetic of model/int8/arithmetic.py, to the bit."""

import ctypes
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from specdec_cli.model.choices import SUPPRESSED
from specdec_cli.model.int8 import arithmetic
from specdec_cli.model.int8.layers import Int8Linear
from specdec_cli.model.int8.model import Int8Choices

Floats = NDArray[np.float32]
WIDTHS = (16, 48, 384)


def floats(*shape: int, seed: int = 0, scale: float = 1.0) -> Floats:
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def at(array: NDArray[Any] | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def number(value: float) -> ctypes.c_float:
    return ctypes.c_float(value)


def size(value: int) -> ctypes.c_int64:
    return ctypes.c_int64(value)


def test_exponential(probe: Any, isa: bytes) -> None:
    x = np.concatenate([np.linspace(-100, 95, 4094, dtype=np.float32), np.array([-np.inf, 0.0], np.float32)])
    found = np.empty_like(x)
    probe.probe_exponential(isa, at(x), size(len(x)), at(found))
    assert found.tobytes() == arithmetic.exponential(x).tobytes()


@pytest.mark.parametrize("width", WIDTHS)
def test_sums_and_norms(probe: Any, isa: bytes, width: int) -> None:
    x, y, gamma = (floats(width, seed=seed) for seed in (1, 2, 3))
    assert probe.probe_dot(isa, at(x), at(y), size(width)) == arithmetic.dot(x, y)
    found = np.empty_like(x)
    probe.probe_normalize(isa, at(gamma), at(y), at(x), size(width), at(found))
    assert found.tobytes() == arithmetic.normalize(x, gamma, y, 1e-5).tobytes()
    probe.probe_normalize(isa, at(gamma), None, at(x), size(width), at(found))
    assert found.tobytes() == arithmetic.normalize_rms(x, gamma, 1e-5).tobytes()


@pytest.mark.parametrize("length", [1, 15, 16, 17, 320, 8001])
def test_log_probabilities(probe: Any, isa: bytes, length: int) -> None:
    logits = floats(1, length, scale=5.0)
    for token in {0, length // 2, length - 1}:
        found = probe.probe_log_probability(isa, at(logits), size(length), number(logits.max()), size(token))
        assert found == arithmetic.log_probabilities(logits, np.array([token]))[0]


@pytest.mark.parametrize("ends", [[1], [2], [5], [16], [17], [33], [1, 2], [16, 17, 18], [33, 1, 15, 16], [*range(14, 21)]])
@pytest.mark.parametrize("used", [8, 16, 48, 64, 80])
@pytest.mark.parametrize("reach", [0, 7, 40])
def test_attention(probe: Any, isa: bytes, ends: list[int], used: int, reach: int) -> None:
    count, end = len(ends), max(ends)
    queries, keys_values = floats(1, count, 1, used, seed=1, scale=3.0), floats(1, end, 2, 1, used, seed=2)
    width = -(-used // 16) * 16
    missing = ((0, 0), (0, width - used))
    keys, values = (np.ascontiguousarray(np.pad(keys_values[0, :, part, 0], missing)) for part in (0, 1))
    padded, found = np.pad(queries[0, :, 0], missing), np.empty((count, width), np.float32)
    last = np.array(ends, np.int64)
    distances = floats(reach + 1, seed=3) if reach else None
    bias = None if distances is None else np.pad(distances, 15, mode="edge")
    shape = (at(last), *map(size, (count, end, width, used)), at(bias), size(reach))
    probe.probe_attend(isa, at(padded), at(keys), at(values), None, *shape, at(found))
    parts = []
    for i, seen in enumerate(ends):
        added = None if distances is None else distances[np.clip(np.arange(end) - seen + 1 + reach, 0, reach)][None, None, None]
        parts.append(arithmetic.attend(queries[:, i : i + 1], keys_values, np.array([[seen]]), bias=added))
    expected = np.concatenate(parts, 1)
    assert found[:, :used].tobytes() == expected.tobytes()


@pytest.mark.parametrize("end", [1, 5, 17, 33])
@pytest.mark.parametrize("used", [16, 80])
def test_attention_to_keys_in_any_order(probe: Any, isa: bytes, end: int, used: int) -> None:
    query, keys, values = floats(used, seed=1, scale=3.0), floats(end, used, seed=2), floats(end, used, seed=3)
    order = np.random.default_rng(4).permutation(end).astype(np.int32)
    found, expected = np.empty(used, np.float32), np.empty(used, np.float32)
    last = np.array([end], np.int64)
    shape = (at(last), size(1), size(end), size(used), size(used), None, size(0))
    probe.probe_attend(isa, at(query), at(keys), at(values), at(order), *shape, at(found))
    keys, values = keys[order], values[order]
    probe.probe_attend(isa, at(query), at(keys), at(values), None, *shape, at(expected))
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("length", [1, 15, 16, 17, 320, 8001])
@pytest.mark.parametrize("suppressed", [0, 1, 3])
def test_log_softmax(probe: Any, isa: bytes, length: int, suppressed: int) -> None:
    logits = floats(1, length, scale=5.0)
    order = np.argsort(logits[0])[::-1]
    logits[0, order[:suppressed]] += np.float32(SUPPRESSED)
    top, total = ctypes.c_float(), ctypes.c_float()
    probe.probe_log_softmax(isa, at(logits), size(length), ctypes.byref(top), ctypes.byref(total))
    found = logits - np.float32(top.value) - np.float32(total.value)
    expected = Int8Choices().log_softmax(torch.from_numpy(logits)).numpy()
    allowed = np.isfinite(expected)
    assert int(allowed.sum()) == max(0, length - suppressed)
    assert found[allowed].tobytes() == expected[allowed].tobytes()


@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "silu", "gelu-tanh"])
@pytest.mark.parametrize(("inputs", "outputs"), [(16, 1), (48, 70), (384, 128)])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 7, 13])
def test_linear_layers(probe: Any, isa: bytes, rows: int, inputs: int, outputs: int, activation: str) -> None:
    torch.manual_seed(rows)
    linear, norm = nn.Linear(inputs, outputs), nn.LayerNorm(inputs)
    normed = rows % 2 == 1
    with torch.inference_mode():
        norm.weight.normal_()
        norm.bias.normal_()
        x, residual = torch.randn(rows, inputs), torch.randn(rows, outputs)
        x[0] = 3.0  # a row without a range
        expected = Int8Linear(linear, norm if normed else None, activation)(x) + residual
    arrays = [each.detach().numpy() for each in (linear.weight, linear.bias, norm.weight, norm.bias, x, residual)]
    found, tops = np.empty((rows, outputs), np.float32), np.empty((-(-outputs // 64), rows), np.float32)
    gamma, beta = (at(each) if normed else None for each in arrays[2:4])
    kind = ["none", "relu", "gelu", "silu", "gelu-tanh"].index(activation)
    status = probe.probe_linear(
        *(isa, at(arrays[0]), size(outputs), size(inputs), at(arrays[1]), gamma, beta, kind, size(outputs), 0, 0),
        *(at(arrays[4]), size(rows), at(arrays[5]), at(found), at(tops)),
    )
    assert status == 0
    assert found.tobytes() == expected.numpy().tobytes()
    for tile, top in enumerate(tops):
        assert top.tolist() == found[:, 64 * tile : 64 * tile + 64].max(1).tolist()


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "gelu-tanh"])
@pytest.mark.parametrize("units", [16, 48, 80])
@pytest.mark.parametrize("rows", [1, 3, 7])
def test_gated_layers(probe: Any, isa: bytes, rows: int, units: int, activation: str) -> None:
    torch.manual_seed(rows)
    inner, outer = nn.Linear(32, 2 * units, bias=False), nn.Linear(units, 70, bias=False)
    with torch.inference_mode():
        x = torch.randn(rows, 32)
        expected = Int8Linear(outer)(Int8Linear(inner, None, activation, gated=True)(x))
    weights, kind = (
        [each.weight.detach().numpy() for each in (inner, outer)],
        ["none", "relu", "gelu", "silu", "gelu-tanh"].index(activation),
    )
    between, found = np.empty((rows, 2 * units), np.float32), np.empty((rows, 70), np.float32)
    tops = np.empty((-(-max(2 * units, 70) // 64), rows), np.float32)
    first = (at(weights[0]), size(2 * units), size(32), None, None, None, kind, size(units), 0, 0, at(x.numpy()), size(rows), None)
    assert probe.probe_linear(isa, *first, at(between), at(tops)) == 0
    second = (at(weights[1]), size(70), size(units), None, None, None, 0, size(70), 1, 0, at(between), size(rows), None)
    assert probe.probe_linear(isa, *second, at(found), at(tops)) == 0
    assert found.tobytes() == expected.numpy().tobytes()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.6, 1.0])
@pytest.mark.parametrize("inputs", [16, 80, 2064])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7])
def test_linear_layers_that_leave_out_zeros(probe: Any, isa: bytes, rows: int, inputs: int, share: float) -> None:
    torch.manual_seed(rows)
    linear = nn.Linear(inputs, 70)
    with torch.inference_mode():
        x = torch.rand(rows, inputs) * (torch.rand(rows, inputs) < share)
        expected = Int8Linear(linear, None, "none")(x)
    weights, bias, given = (each.detach().numpy() for each in (linear.weight, linear.bias, x))
    found, tops = np.empty((rows, 70), np.float32), np.empty((2, rows), np.float32)
    layer = (isa, at(weights), size(70), size(inputs), at(bias), None, None, 0, size(70), 0, 1)
    assert probe.probe_linear(*layer, at(given), size(rows), None, at(found), at(tops)) == 0
    assert found.tobytes() == expected.numpy().tobytes()


@pytest.mark.parametrize("sparse", [0, 1])
@pytest.mark.parametrize("largest", [1, 4095])
def test_sums_of_the_smallest_and_largest_bytes_are_exact(probe: Any, isa: bytes, largest: int, sparse: int) -> None:
    weights = np.ones((2, 4096), np.float32)
    weights[1] = -1.0
    x, found, tops = np.zeros((1, 4096), np.float32), np.empty((1, 2), np.float32), np.empty((1, 1), np.float32)
    x[0, :largest] = 1.0  # bytes are 0 and 255
    zeros = np.zeros(2, np.float32)
    args = (at(zeros), None, None, 0, size(2), 0, sparse, at(x), size(1), at(np.zeros((1, 2), np.float32)), at(found), at(tops))
    assert probe.probe_linear(isa, at(weights), size(2), size(4096), *args) == 0
    step, scale = np.float32(1) / np.float32(255), np.float32(1) / np.float32(127)
    sums = np.array([127 * 255 * largest, -127 * 255 * largest], np.float32)
    assert found[0].tolist() == (sums * step * scale).tolist()


def test_every_half_widens_to_its_value(probe: Any, isa: bytes) -> None:
    halves = np.arange(65536, dtype=np.uint16)
    found = np.empty(65536, np.float32)
    probe.probe_widen(isa, 1, at(halves), number(0), size(65536), at(found))
    expected = halves.view(np.float16).astype(np.float32)
    kept = ~np.isnan(expected)
    assert found[kept].tobytes() == expected[kept].tobytes()
    assert np.isnan(found[~kept]).all()
    probe.probe_widen(isa, 2, at(halves), number(0), size(65536), at(found))
    assert found.tobytes() == (halves.astype(np.uint32) << 16).tobytes()


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_weights_round_as_torch_rounds_them(probe: Any, isa: bytes, scale: float) -> None:
    row = floats(4800, scale=scale)
    found, own = np.empty(4800, np.int8), np.empty(1, np.float32)
    assert probe.probe_quantize_weights(isa, at(row), size(4800), at(own), at(found)) == 1
    weight = torch.from_numpy(row)[None]
    scales = (weight.abs().amax(1) / 127).clamp_min(1e-12)
    assert own.tolist() == scales.tolist()
    assert found.tolist() == (weight / scales[:, None]).round_().to(torch.int8)[0].tolist()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused(probe: Any, isa: bytes, value: float) -> None:
    row = floats(64)
    row[37] = value
    assert probe.probe_quantize_weights(isa, at(row), size(64), at(np.empty(1, np.float32)), at(np.empty(64, np.int8))) == 0


def test_sizes_do_not_overflow(probe: Any) -> None:
    assert probe.probe_product(2**31, 2**31) == 2**62
    assert probe.probe_product(2**31, 2**31 + 1) == probe.probe_product(-1, 2) == probe.probe_sum(2**62, 1) == -1
    assert probe.probe_sum(2**61, 2**61) == 2**62


def test_blocks_in_large_pages_are_zeroed_and_do_not_overlap(probe: Any) -> None:
    sizes = np.array([0, 1, 100, 9 << 20, 64, 5 << 20, 4 << 20, 0, 8 << 20, 2**21 + 1], np.int64)
    assert probe.probe_large_pages(at(sizes), size(len(sizes))) == len(sizes)
    assert probe.probe_large_pages(at(np.array([-1, 3, 2**62], np.int64)), size(3)) == 1  # the others are refused
