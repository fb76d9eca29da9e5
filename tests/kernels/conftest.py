"""Tests of kernels run under Triton's interpreter, which must be chosen before Triton is imported: `make test-all` does."""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from specdec_cli.decoding import graph_player
from specdec_cli.kernels import tiles

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
def interpreter(request: pytest.FixtureRequest) -> None:
    """Use the interpreter of `_quick_interpreter` in tests that run kernels."""
    if INTERPRETED and request.path.name not in WITHOUT_TRITON:
        request.getfixturevalue("_quick_interpreter")


@pytest.fixture(scope="session")
def _quick_interpreter() -> Iterator[None]:
    """Let the interpreter add up products in order, and take Triton's language for its own once.

    It leaves the products of a tile to the processor's library of linear algebra, in which the order of a sum depends on the position of a
    row within the tile; tensor cores have one order for all rows. The interpreter's own product also takes the bits of bfloat16 for
    integers. At each call of a kernel it replaces all functions of the language, which takes as long as a small kernel itself, and at each
    operation it makes a table of the types of numbers.
    """
    interpreter = pytest.importorskip("triton.runtime.interpreter")

    def multiply(_: Any, left: Any, right: Any, sums: Any, *_options: Any) -> Any:
        products = _float32(left)[:, :, None] * _float32(right)
        # NumPy adds up rows of the axis before the last one after the other.
        return interpreter.TensorHandle(sums.data + np.add.reduce(products, axis=1), sums.dtype.scalar)

    known, pointer = cache(interpreter._get_np_dtype), interpreter.tl.pointer_type

    def numbers(kind: Any) -> Any:
        return np.dtype(np.uint64) if isinstance(kind.scalar, pointer) else known(kind.scalar)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(interpreter.InterpreterBuilder, "create_dot", multiply)
        patched.setattr(interpreter, "_get_np_dtype", numbers)
        language = interpreter._patch_lang(SimpleNamespace(__globals__={"tl": interpreter.tl, "core": interpreter.tl.core}))
        patched.setattr(interpreter, "_patch_lang", lambda _: interpreter._LangPatchScope())
        yield
        language.restore()


@pytest.fixture
def whole_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one program compute all columns of a tiny layer: the interpreter takes as long for a small tile as for a large one."""
    monkeypatch.setattr("specdec_cli.kernels.tiles.FEW_ROWS", replace(tiles.FEW_ROWS, columns=128))
    monkeypatch.setattr("specdec_cli.kernels.vocabulary.FEW_TOKENS", replace(tiles.FEW_TOKENS, columns=1024))


@pytest.fixture
def short_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play two rounds in a burst instead of four, of which most would come after the end of short outputs."""
    monkeypatch.setattr(graph_player, "PLAIN_ROUNDS", 2)


def _float32(handle: Any) -> Any:
    """The numbers of a tensor of the interpreter, which keeps bfloat16 as integers of 16 bits."""
    if handle.data.dtype == np.uint16:
        return (handle.data.astype(np.uint32) << 16).view(np.float32)
    return handle.data.astype(np.float32)
