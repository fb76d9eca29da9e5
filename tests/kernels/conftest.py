"""Tests of kernels run under Triton's interpreter, which must be chosen before Triton is imported: `make test-all` does."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
WITHOUT_TRITON = {"test_supported.py", "test_tiles.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder that run kernels as long, and skip them without the interpreter."""
    for item in items:
        if item.path.parent.name == "kernels" and item.path.name not in WITHOUT_TRITON:
            item.add_marker("long")
            if not INTERPRETED:
                item.add_marker(pytest.mark.skip(reason="kernels need a GPU or TRITON_INTERPRET=1, which `make test-all` sets"))


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    """Start each test with the same random numbers, and compute without gradients."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(1)
        yield


@pytest.fixture(autouse=True)
def products_in_order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the interpreter add up the products of a tile in one order for all its rows, as tensor cores do.

    It leaves them to the processor's library of linear algebra, in which the order depends on the position of a row within the tile.
    The interpreter's own product also takes the bits of bfloat16 for integers.
    """
    if not INTERPRETED or request.path.name in WITHOUT_TRITON:
        return
    interpreter = pytest.importorskip("triton.runtime.interpreter")

    def multiply(_: Any, left: Any, right: Any, sums: Any, *_options: Any) -> Any:
        a, b, total = _float32(left), _float32(right), sums.data.copy()
        for k in range(a.shape[1]):
            total += a[:, k, None] * b[k]
        return interpreter.TensorHandle(total, sums.dtype.scalar)

    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_dot", multiply)


def _float32(handle: Any) -> Any:
    """The numbers of a tensor of the interpreter, which keeps bfloat16 as integers of 16 bits."""
    if handle.data.dtype == np.uint16:
        return (handle.data.astype(np.uint32) << 16).view(np.float32)
    return handle.data.astype(np.float32)
