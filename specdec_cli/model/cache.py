"""Keys and values of a decoder's prefix: static, a length per row, rolled back by lowering it."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class LayerCache:
    """Keys and values of one layer.

    `store` is (B, S, 2, H, D); `rows` (B * Q,) are the flat rows that this pass writes, row * S + position.
    What lies at or beyond a row's length is stale but finite, and must be hidden by the mask.
    """

    store: Tensor
    rows: Tensor

    def write(self, keys_values: Tensor) -> Tensor:
        """Store (B, Q, 2, H, D) at this pass's rows; all keys and values (B, S, 2, H, D)."""
        self.store.flatten(0, 1).index_copy_(0, self.rows, keys_values.flatten(0, 1))
        return self.store


class Cache:
    """Keys and values of all layers of a decoder, for B rows of up to S positions.

    It holds no lengths: the caller knows them, and a position is valid once a row's length has passed it.
    """

    def __init__(self, layers: int, rows: int, capacity: int, heads: int, head_width: int, dtype: torch.dtype, device: torch.device) -> None:
        # Zeros, because a NaN behind a mask still leaks: 0 * NaN is NaN.
        self.store = torch.zeros(layers, rows, capacity, 2, heads, head_width, dtype=dtype, device=device)
        self._first = torch.arange(rows, device=device)[:, None] * capacity

    @property
    def capacity(self) -> int:
        """Positions a row."""
        return self.store.shape[2]

    def at(self, positions: Tensor) -> list[LayerCache]:
        """A writer for each layer at `positions` (B, Q)."""
        rows = (self._first + positions).flatten()
        return [LayerCache(layer, rows) for layer in self.store]

    def keep(self, rows: Tensor) -> None:
        """Keep only `rows` (indices, in this order)."""
        self.store = self.store.index_select(1, rows)
        self._first = self._first[: rows.shape[0]]
