"""Sizes of tiles. They depend on the widths of a model only, never on the number of rows, so that they fix the order of every sum.

For the same reason, no kernel is tuned or specialised for a number of rows, queries or positions: one compiled kernel serves all.
"""

ROWS = 16
"""Rows of a tile of a product: the fewest that tensor cores multiply. The same for one row and for thousands, because other tiles may be
multiplied by other instructions, which add up in another order.
"""
COLUMNS = 64
"""Columns of a tile of a product."""
INPUTS = 64
"""Numbers of a row that a product adds up at a time."""
KEYS = 32
"""Keys that attention reads at a time."""
SMALLEST = 16
"""The smallest side of a tile that Triton multiplies."""
WIDEST_ROW = 2**14
"""The widest row that a kernel reads at once."""


def power_of_two(number: int) -> int:
    """The smallest power of two that is at least `number` and SMALLEST: the sides of tiles are powers of two."""
    return max(SMALLEST, 1 << (number - 1).bit_length())
