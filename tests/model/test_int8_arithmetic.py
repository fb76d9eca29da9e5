"""The arithmetic of models in int8 against exact numbers."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from specdec_cli.model.int8.arithmetic import EXACT, exponential, fused, gelu, multiply, silu

TINY = float(np.finfo(np.float32).tiny)


def rounded(exact: Fraction) -> float:
    """The float32 number nearest to `exact`; the even one of two."""
    near = np.float32(float(exact))
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return float(min(around, key=lambda each: (abs(Fraction(float(each)) - exact), int(each.view(np.int32)) & 1)))


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (1 + 2.0**-12, 1 + 2.0**-12, 2.0**-70),  # half-way between two float32 numbers, except for a part that float64 cannot represent
        (1 + 2.0**-12, 1 + 2.0**-12, -(2.0**-70)),
        (-1 - 2.0**-12, 1 + 2.0**-12, 2.0**-70),
        (1 + 2.0**-12, 1 + 2.0**-12, 0.0),  # exactly half-way
        (TINY * (1 + 2.0**-23), 0.5, 2.0**-149),
        (1.5 * 2.0**-140, 2.0**-9, 2.0**-149),
        (0.0, -1.0, 0.0),
    ],
)
def test_a_product_and_a_sum_round_once(a: float, b: float, c: float) -> None:
    (found,) = fused(np.array([a], np.float32), np.float32(b), np.float32(c)).tolist()
    assert found == rounded(Fraction(a) * Fraction(b) + Fraction(c))


def test_products_and_sums_of_random_numbers_round_once() -> None:
    generator = np.random.default_rng(1)
    # Few bits and similar magnitudes make many sums half-way.
    a, b = ((generator.integers(-(2**13), 2**13, 4000) * 2.0 ** generator.integers(-9, 9, 4000)).astype(np.float32) for _ in range(2))
    c = (generator.integers(-(2**24), 2**24, 4000) * 2.0 ** generator.integers(-40, 9, 4000)).astype(np.float32)
    exact = [Fraction(x) * Fraction(y) + Fraction(z) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    assert fused(a, b, c).tolist() == [rounded(each) for each in exact]


def test_products_of_the_largest_integers_are_exact() -> None:
    inputs = 2 * EXACT + 7
    integers = np.full((1, inputs), 255, np.float32)
    weights = torch.full((inputs, 2), 127.0)
    weights[:, 1] = -127.0
    found = multiply(integers, weights, weights.sum(0).int())
    assert found.tolist() == [[np.float32(sign * 255 * 127 * inputs) for sign in (1, -1)]]


def test_functions_have_the_documented_accuracy() -> None:
    x = np.linspace(-87, 88, 100_001, dtype=np.float32)
    exact = np.exp(x.astype(np.float64))
    assert np.abs(exponential(x) / exact - 1).max() < 4e-7
    assert exponential(np.array([-88.0, -np.inf], np.float32)).tolist() == [0.0, 0.0]
    small = torch.linspace(-12, 12, 100_001)
    for mine, theirs in ((gelu, torch.nn.functional.gelu), (silu, torch.nn.functional.silu)):
        assert torch.allclose(torch.from_numpy(mine(small.numpy())), theirs(small), rtol=1e-6, atol=2e-6)
