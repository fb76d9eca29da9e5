"""Sizes of tiles. Those of a sum depend on the widths of a model only, never on the number of rows, so that they fix its order.

No kernel is tuned or specialised for a number of rows, queries or positions. Only a product of many rows has larger tiles: each row's
products are still added up in the same order, from the first input to the last, and the check of the first use on a card compares the
bits (see opening/gpu.py).
"""

from dataclasses import dataclass
from functools import lru_cache

import torch

ROWS = 16
"""Rows of a tile: the fewest that tensor cores multiply."""
COLUMNS = 64
"""Columns of a tile of the product with the vocabulary."""
INPUTS = 128
"""Bytes divided by 2 of a row that a product adds up at a time."""
KEYS = 32
"""Keys that attention reads at a time."""
SMALLEST = 16
"""The smallest side of a tile that Triton multiplies."""
WIDEST_ROW = 2**14
"""The widest row that a kernel reads at once."""
MANY = 192
"""Products of more rows than this have larger tiles."""
WIDE_MEMORY = 160 << 10
"""Bytes of shared memory that the larger tiles need."""


@dataclass(frozen=True)
class ProductTile:
    """A tile of a product, how many of its steps are loaded ahead, and the warps that compute it."""

    rows: int
    columns: int
    stages: int
    warps: int


FEW_ROWS, MANY_ROWS, MANY_NORMALISED = ProductTile(ROWS, 32, 4, 4), ProductTile(64, 64, 3, 4), ProductTile(64, 128, 3, 8)
"""The fastest tiles of those that were measured on an H200 with products of 1 to 2,560 rows, without and with a norm before."""


def product_tile(count: int, like: torch.Tensor, *, normalised: bool) -> ProductTile:
    """The tile of a product of `count` rows of the type and on the device of `like`, which it may normalise first."""
    if count <= MANY or not allows_large(like):
        return FEW_ROWS
    return MANY_NORMALISED if normalised else MANY_ROWS


def allows_large(like: torch.Tensor) -> bool:
    """Whether larger tiles of the type and on the device of `like` fit into shared memory."""
    return like.element_size() == 2 and _has_wide_memory(like.device)


def input_tile(width: int, like: torch.Tensor) -> int:
    """Numbers of a row of `width` that a product adds up at a time."""
    return min(2 * INPUTS // like.element_size(), power_of_two(width))


@lru_cache
def _has_wide_memory(device: torch.device) -> bool:
    if device.type != "cuda":  # the interpreter has no limit
        return True
    properties = torch.cuda.get_device_properties(device)
    return int(getattr(properties, "shared_memory_per_block_optin", properties.shared_memory_per_block)) >= WIDE_MEMORY


def power_of_two(number: int) -> int:
    """The smallest power of two that is at least `number` and SMALLEST: the sides of tiles are powers of two."""
    return max(SMALLEST, 1 << (number - 1).bit_length())
