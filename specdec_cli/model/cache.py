"""Keys and values of a decoder's prefix: static, a length per row, rolled back by lowering it."""

from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor


class KeyStore(Protocol):
    """Takes the keys and values (B, Q, 2, H, D) of a pass and hands back all that its queries may see."""

    def write(self, keys_values: Tensor) -> Tensor:
        """All keys and values (B, S, 2, H, D)."""


@dataclass
class LayerCache:
    """Where one pass writes the keys and values of one layer.

    `store` is (B, S, 2, H, D); `slots` (B * Q,) are the flat places that this pass fills, row * S + position.
    """

    store: Tensor
    slots: Tensor

    def write(self, keys_values: Tensor) -> Tensor:
        """Store (B, Q, 2, H, D) at this pass's places; all keys and values (B, S, 2, H, D)."""
        self.store.flatten(0, 1).index_copy_(0, self.slots, keys_values.flatten(0, 1))
        return self.store


@dataclass
class Cache:
    """Keys and values (B, S, 2, H, D) of each layer, for B rows of up to S positions.

    It holds no lengths: what lies at or beyond a row's length is stale but finite, and the mask hides it.
    So a rollback is a smaller length, and costs nothing.
    """

    layers: list[Tensor]

    @classmethod
    def empty(cls, layers: int, rows: int, capacity: int, heads: int, head_width: int, like: Tensor) -> Self:
        """A cache of zeros in the type and on the device of `like`; zeros, because 0 * NaN behind a mask is NaN."""
        return cls([like.new_zeros(rows, capacity, 2, heads, head_width) for _ in range(layers)])

    @property
    def capacity(self) -> int:
        """Positions a row."""
        return self.layers[0].shape[1]

    def at(self, positions: Tensor) -> list[LayerCache]:
        """A writer for each layer at `positions` (B, Q)."""
        rows = torch.arange(positions.shape[0], device=positions.device)[:, None]
        slots = (rows * self.capacity + positions).flatten()
        return [LayerCache(store, slots) for store in self.layers]
