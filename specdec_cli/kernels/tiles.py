"""Sizes of tiles. Those of a sum depend on the widths of a model only, never on the number of rows, so that they fix its order.

No kernel is tuned or specialised for a number of rows, queries or positions. Only a product of many rows has larger tiles: each row's
products are still added up in the same order, from the first input to the last. They are used only on cards on which a comparison of bits
shows that (`large_tiles_agree` in kernels/linear.py).
"""

from dataclasses import dataclass
from functools import lru_cache

import torch

ROWS = 16
"""Rows of a tile: the fewest that tensor cores multiply."""
COLUMNS = 64
"""Columns of a tile of the product with the vocabulary."""
INPUT_BYTES = 256
"""Bytes of a row that a product adds up at a time."""
KEYS = 32
"""Keys that attention reads at a time."""
SMALLEST = 16
"""The smallest side of a tile that Triton multiplies."""
WIDEST_ROW = 2**14
"""The widest row that a kernel reads at once."""
MERGED, MOST_MERGED = 2**14, 2**16
"""Best tokens of the tiles of a vocabulary that 4 warps merge, and that 16 warps do."""
MANY = 192
"""Products of more rows than this have larger tiles."""
WIDE_MEMORY = 160 << 10
"""Bytes of shared memory that the larger tiles need."""
LEAST_MEMORY = 64 << 10
"""Bytes of shared memory that all cards with tensor cores have; the other tiles need no more."""
STAGES = 3
"""Steps that attention and the product with the vocabulary load ahead."""


@dataclass(frozen=True)
class ProductTile:
    """A tile of a product, how many of its steps are loaded ahead, and the warps that compute it."""

    rows: int
    columns: int
    stages: int
    warps: int

    def shared_memory(self, inputs: int, value_bytes: int) -> int:
        """The most bytes of shared memory of a product: what is loaded ahead, `inputs` numbers of each row and column, and the rows once
        more if they are normalised.
        """
        return inputs * value_bytes * (self.stages * (self.rows + self.columns) + self.rows)


FEW_ROWS, MANY_ROWS, MANY_NORMALISED = ProductTile(ROWS, 32, 4, 4), ProductTile(64, 64, 3, 4), ProductTile(64, 128, 3, 8)
"""The fastest tiles of those that were measured on an H200 with products of 1 to 2,560 rows, without and with a norm before."""
FEW_TOKENS, MANY_TOKENS = ProductTile(ROWS, COLUMNS, STAGES, 4), ProductTile(MANY_ROWS.rows, COLUMNS, STAGES, 4)
"""The tiles of the product with the vocabulary."""


def large_tiles_fit(like: torch.Tensor) -> bool:
    """Whether larger tiles of the type and on the device of `like` fit into shared memory."""
    return like.element_size() == 2 and _has_wide_memory(like.device)


def input_tile(width: int, like: torch.Tensor) -> int:
    """Numbers of a row of `width` that a product adds up at a time."""
    return min(INPUT_BYTES // like.element_size(), power_of_two(width))


def attention_memory(head_width: int, value_bytes: int, stages: int) -> int:
    """The most bytes of shared memory of attention: keys and values that are loaded ahead, the queries and their shares."""
    width = power_of_two(head_width)
    return value_bytes * (2 * stages * KEYS * width + ROWS * (width + KEYS))


def attention_stages(head_width: int, like: torch.Tensor) -> int:
    """Steps that attention of the type and on the device of `like` loads ahead: 1 where those of wide heads in float32 do not fit."""
    small = attention_memory(head_width, like.element_size(), STAGES) <= LEAST_MEMORY
    return STAGES if small or _has_wide_memory(like.device) else 1


@lru_cache
def _has_wide_memory(device: torch.device) -> bool:
    if device.type != "cuda":  # the interpreter has no limit
        return True
    properties = torch.cuda.get_device_properties(device)
    return int(getattr(properties, "shared_memory_per_block_optin", properties.shared_memory_per_block)) >= WIDE_MEMORY


def power_of_two(number: int) -> int:
    """The smallest power of two that is at least `number` and SMALLEST: the sides of tiles are powers of two."""
    return max(SMALLEST, 1 << (number - 1).bit_length())
