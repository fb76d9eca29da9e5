"""Static cache of the keys and values of a decoder's prefix."""

from dataclasses import dataclass, field
from functools import cache
from typing import Protocol, Self

import torch
from torch import Tensor

from specdec_cli.model.rows import UNINITIALIZED


class KeyStore(Protocol):
    """Protocol: stores the keys and values of a pass, and returns all keys and values that its queries may attend
    to.
    """

    def write(self, keys_values: Tensor) -> Tensor:
        """Store the keys and values (B, Q, 2, H, D) of this pass; return all stored keys and values (B, S, 2, H, D)."""


@dataclass
class LayerCache:
    """The cache of one layer for one pass.

    `store` is (B, S, 2, H, D). `slots` (B * Q,) are the flat indices that this pass writes, row * S + position.
    """

    store: Tensor
    slots: Tensor

    def write(self, keys_values: Tensor) -> Tensor:
        """Store keys and values (B, Q, 2, H, D) at the positions of this pass, in place; return the whole store (B,
        S, 2, H, D).
        """
        self.store.flatten(0, 1).index_copy_(0, self.slots, keys_values.flatten(0, 1))
        return self.store


@cache
def steps(number: int, device: torch.device) -> Tensor:
    """The integers from 0 to `number` - 1 (number,); a cached tensor, which must not be written to."""
    return torch.arange(number, device=device)


@dataclass
class Cache:
    """Keys and values (B, S, L, 2, H, D) of L layers, for B rows of up to S positions.

    It stores no lengths: positions from a row's length on hold finite values of no meaning, which the mask hides. So
    tokens are removed by using a smaller length, without a change of the cache.
    """

    whole: Tensor = field(metadata=UNINITIALIZED)

    @classmethod
    def empty(cls, layers: int, rows: int, capacity: int, heads: int, head_width: int, like: Tensor, *, masked: bool = True) -> Self:
        """A cache without keys, of the type and on the device of `like`.

        With `masked` it is zeroed, because attention reads all positions and 0 * NaN is NaN; otherwise it is
        uninitialized.
        """
        shape = (rows, capacity, layers, 2, heads, head_width)
        return cls(like.new_zeros(shape) if masked else like.new_empty(shape))

    @property
    def capacity(self) -> int:
        """The number of positions per row, S."""
        return self.whole.shape[1]

    def at(self, positions: Tensor) -> list[LayerCache]:
        """For each layer, a LayerCache that writes at `positions` (B, Q) to this cache's memory."""
        slots = self._slots(positions)
        return [LayerCache(store, slots) for store in self.whole.unbind(2)]

    def write(self, positions: Tensor, keys_values: Tensor) -> None:
        """Store the keys and values (B, Q, L, 2, H, D) of all layers at `positions` (B, Q), in place."""
        self.whole.flatten(0, 1).index_copy_(0, self._slots(positions), keys_values.flatten(0, 1))

    def _slots(self, positions: Tensor) -> Tensor:
        return torch.add(positions, steps(positions.shape[0], positions.device)[:, None], alpha=self.capacity).flatten()
