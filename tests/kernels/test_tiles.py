"""The tiles of all kernels fit into the shared memory of the cards that they are chosen for."""

import pytest
import torch

from specdec_cli.kernels import tiles
from specdec_cli.kernels.support import TYPES, WIDEST_HEAD
from specdec_cli.kernels.tiles import FEW_ROWS, FEW_TOKENS, LEAST_MEMORY, MANY_NORMALISED, MANY_ROWS, MANY_TOKENS, WIDE_MEMORY

WIDTHS = (16, 80, 512, 1024, 16384)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", TYPES)
def test_products_fit_into_shared_memory(width: int, dtype: torch.dtype) -> None:
    like = torch.empty(0, dtype=dtype)
    inputs, value_bytes = tiles.input_tile(width, like), like.element_size()
    for tile in (FEW_ROWS, FEW_TOKENS):
        assert tile.shared_memory(inputs, value_bytes) <= LEAST_MEMORY
    if tiles.large_tiles_fit(like):
        for tile in (MANY_ROWS, MANY_NORMALISED, MANY_TOKENS):
            assert tile.shared_memory(inputs, value_bytes) <= WIDE_MEMORY


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("head_width", [16, 32, 64, 80, WIDEST_HEAD])
def test_attention_fits_into_shared_memory(head_width: int, dtype: torch.dtype, wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "_has_wide_memory", lambda _: wide)
    like = torch.empty(0, dtype=dtype)
    stages = tiles.attention_stages(head_width, like)
    assert tiles.attention_memory(head_width, like.element_size(), stages) <= (WIDE_MEMORY if wide else LEAST_MEMORY)
    assert stages == (1 if dtype is torch.float32 and head_width > 64 and not wide else 3)
